#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "replay/comparison.hpp"
#include "replay/contender_list.hpp"
#include "replay/fragmentation.hpp"
#include "replay/replay_report.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "text/text.hpp"
#include "trace/call_paths.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::uint32_t max_rounds = 100'000;
constexpr std::int64_t max_events = std::int64_t{1} << 40;
constexpr double seconds_in_all = 4;  // for rounds, unless their number is given

enum class heap_kind : std::uint8_t { clean, fragmented, both };

const std::map<std::string, heap_kind> heap_kinds{
    {"clean", heap_kind::clean}, {"fragmented", heap_kind::fragmented}, {"both", heap_kind::both}};
const std::map<std::string, lanes> thread_kinds{{"one", lanes::one}, {"recorded", lanes::as_recorded}};

struct replay_options {
    std::string file;
    std::vector<std::string> with;
    std::uint32_t rounds = 0;
    std::uint64_t events = 0;  // 0: as many as a replay of bounded time can play
    std::string memory;        // bytes, as text
    heap_kind heap = heap_kind::both;
    lanes threads = lanes::one;
    bool without_frees = false;
    bool check = false;
    bool list = false;
    bool json = false;
};

/// Throws usage_error for an unknown name or parameter.
std::vector<named_contender> contenders_named(const std::vector<std::string>& lists) {
    std::string all;
    for (const std::string& each : lists) all += (all.empty() ? "" : ",") + each;
    try {
        return parse_contenders(all);
    } catch (const tool_error& error) {
        throw usage_error{std::string{"--with: "} + error.what()};
    }
}

/// Removes what cannot be played: an error if the user named it, a remark if it is a member of a group.
void take_out(std::vector<named_contender>& named, replay_outcome& outcome, const auto& why_not) {
    std::erase_if(named, [&](const named_contender& each) {
        const std::string why = why_not(each.which);
        if (why.empty()) return false;
        if (each.by_name) throw tool_error{fmt::format("{} cannot be played: {}", contender_text(each.which), why)};
        outcome.others.push_back({contender_text(each.which), why});
        return true;
    });
}

/// Resources that free everything at once can also be played without single frees.
std::vector<contender> with_and_without_frees(const std::vector<named_contender>& named, bool without) {
    std::vector<contender> all;
    for (const named_contender& each : named) {
        all.push_back(each.which);
        if (!without || !resources()[each.which.resource].takes_all_back) continue;
        all.push_back(each.which);
        all.back().without_frees = true;
    }
    return all;
}

std::uint64_t heaps(const replay_options& options) {
    return options.heap == heap_kind::both ? 2 : 1;
}

/// Plays in the few rounds that any comparison has. More rounds are the user's wish.
std::uint64_t plays(const std::vector<contender>& contenders, const replay_options& options) {
    constexpr std::uint64_t others = 2;  // malloc and the empty loop
    constexpr std::uint64_t rounds = 3;
    return (contenders.size() + others) * rounds * heaps(options);
}

/// What the user asked for, or what all contenders can play in a bounded time.
replay_window window_of(const std::vector<named_contender>& named, const replay_options& options) {
    if (options.events != 0) return {options.events, ~std::uint64_t{0}};
    return window_for(plays(with_and_without_frees(named, options.without_frees), options));
}

/// A sample lacks most frees and reallocations, so it cannot be replayed.
void refuse_sampled(const trace_reader& reader) {
    if (!reader.header().is_sampled()) return;
    throw tool_error{"'" + reader.path().string() +
                     "' is sampled, and most of what the program did is not in it: record " +
                     "without --sample to replay"};
}

sequence read_sequence(trace_reader& reader, lanes who, const replay_window& window, replay_outcome& outcome,
                       const command_context& context) {
    const reading_progress bar{"reading", reader, context};
    sequence_builder builder{who};
    reader.for_each([&](const event& e) {
        ++outcome.recorded_events;
        outcome.threads = std::max<std::uint64_t>(outcome.threads, e.thread + std::uint64_t{1});
        if (builder.is_full(window)) return;
        builder.add(e);
        ++outcome.events;
    });
    if (outcome.events == 0) throw tool_error{"'" + reader.path().string() + "' has no events to replay"};
    sequence steps = builder.finish();
    outcome.trace = reader.path().string();
    outcome.peak_bytes = steps.peak_bytes;
    outcome.touched = steps.touched;
    outcome.reserved_blocks = steps.reserved_blocks;
    outcome.lanes = steps.lanes;
    return steps;
}

void measure(const sequence_view& steps, const replay_options& options, replay_outcome& outcome,
             const command_context& context) {
    std::vector<std::uint32_t> block_counts;
    if (options.heap != heap_kind::fragmented) block_counts.push_back(0);
    if (options.heap != heap_kind::clean) block_counts.push_back(fragmentation_blocks(steps));
    progress_bar bar{"replaying", !context.quiet};
    for (const std::uint32_t blocks : block_counts) {
        comparison_options how;
        how.rounds = options.rounds;
        if (!options.memory.empty()) how.memory_limit = *parse_bytes(options.memory);
        how.max_seconds = seconds_in_all / static_cast<double>(block_counts.size());
        how.latest_seconds = how.max_seconds + 0.5;
        how.fragmentation_blocks = blocks;
        how.check = options.check && outcome.heaps.empty();
        how.progress = [&](double done) {
            bar.show((static_cast<double>(outcome.heaps.size()) + done) / static_cast<double>(block_counts.size()));
        };
        if (!outcome.heaps.empty()) how.prepared = &outcome.heaps.front().result;
        outcome.heaps.push_back({blocks, compare(context.host(), steps, outcome.contenders, how)});
    }
}

std::string event_text(const wanted_step& found, const call_paths& paths) {
    const std::uint32_t site = paths.site(found.what.stack);
    return fmt::format("event {} ({} of {}{})", count_text(found.number), found.what.allocates ? "allocation" : "free",
                       plural(found.what.size, "byte", "bytes"), site == 0 ? "" : " at " + paths.site_text(site));
}

/// Reads the trace again to describe the failed events.
std::vector<replay_failure> located_failures(trace_reader& reader, lanes who, const replay_outcome& outcome) {
    std::vector<replay_failure> failures = replay_failures(outcome);
    if (failures.empty()) return failures;
    std::vector<wanted_step> wanted;
    wanted.reserve(failures.size());
    for (const replay_failure& each : failures) wanted.push_back({each.how.failed_lane, each.how.failed_step});
    step_finder finder{who, wanted};
    reader.for_each([&](const event& e) { finder.add(e); });
    const call_paths paths{reader.tables()};
    for (std::size_t i = 0; i < failures.size(); ++i) {
        const bool known = failures[i].how.signal == 0 && failures[i].how.failure != trial_failure::not_started;
        if (known && wanted[i].found) failures[i].event = event_text(wanted[i], paths);
    }
    return failures;
}

/// Why --memory refuses the text; empty when it is fine.
std::string check_memory(const std::string& text) {
    if (parse_bytes(text).value_or(0) != 0) return {};
    return "'" + text + "' is not a size: write digits, and K, M, G or T for powers of 1024, as in 4G";
}

std::vector<described_word> contender_words() {
    std::vector<described_word> words;
    for (const auto& [name, description] : contender_names()) {
        words.push_back({std::string{name}, std::string{description}});
    }
    return words;
}

void require_arguments(const replay_options& options) {
    if (options.list) return;
    if (options.file.empty()) throw usage_error{"FILE is required"};
    if (options.with.empty()) throw usage_error{"--with is required"};
}

int run_list(const replay_options& options, const command_context& context) {
    sequence steps;
    replay_outcome outcome;
    std::unique_ptr<trace_reader> reader;
    if (!options.file.empty()) {
        reader = std::make_unique<trace_reader>(options.file);
        refuse_sampled(*reader);
        steps = read_sequence(*reader, options.threads, {}, outcome, context);
    }
    const sequence_view view = steps.view();
    const sequence_view* played = reader ? &view : nullptr;
    print(options.json ? text_of(resources_json(played)) : resources_text(played));
    return reader ? report_missing(*reader) : status_success;
}

int run_replay(const replay_options& options, const command_context& context) {
    require_arguments(options);
    if (options.list) return run_list(options, context);
    replay_outcome outcome;
    std::vector<named_contender> named = contenders_named(options.with);
    take_out(named, outcome, [](const contender& each) { return not_here(each); });
    trace_reader reader{options.file};
    refuse_sampled(reader);
    remark_allocator(context, reader.header());
    const sequence steps = read_sequence(reader, options.threads, window_of(named, options), outcome, context);
    take_out(named, outcome, [&](const contender& each) { return not_for(each, steps.view()); });
    outcome.contenders = with_and_without_frees(named, options.without_frees);
    outcome.is_as_asked = options.events != 0;
    measure(steps.view(), options, outcome, context);
    const std::vector<replay_failure> failures = located_failures(reader, options.threads, outcome);
    print(options.json ? text_of(replay_json(outcome, failures)) : replay_text(outcome));
    for (const replay_failure& each : failures) tell(failure_text(each));
    const int missing = report_missing(reader);
    return failures.empty() ? missing : status_failure;
}

}  // namespace

void add_replay_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<replay_options>();
    subcommand command{line, "replay", "Replays a trace's allocations and frees over other resources, beside malloc"};
    command.trace("FILE", options->file, "The trace");
    command.list_of("--with", options->with, contender_words(),
                    "Names of resources and groups, separated by commas; parameters follow a colon");
    command.whole_number("--rounds", options->rounds, 1, max_rounds, "Rounds to play")
        .default_is("as many as the figures need");
    command.whole_number("--events", options->events, 1, max_events, "Events to play, from the start")
        .default_is("4,000,000, or fewer over many resources");
    command.text("--memory", options->memory, "SIZE", "Memory that a resource may take, in K, M, G or T")
        .default_is("768M, or twice what is live at a time")
        .check(check_memory);
    command.one_of("--heap", options->heap, heap_kinds, "both",
                   "fragmented: as after a long run, with half of many blocks freed");
    command.one_of("--threads", options->threads, thread_kinds, "one",
                   "one: one thread plays all events; recorded: each thread plays its own");
    command.flag("--without-frees", options->without_frees,
                 "Also play resources that free everything at once without the single frees");
    command.flag("--check", options->check, "First check that each resource keeps the contents of its blocks");
    command.flag("--list", options->list, "Only list what can be named, and with FILE what can play it");
    command.flag("--json", options->json, "Print an object for machines; docs/replay.md names its keys");
    command.footer(
        "'acre replay --list' lists the resources and their parameters. Groups:\n" + groups_text() +
        "\nExamples:\n"
        "  acre replay sqlite3.acre --with arena,multi_pool,peers\n"
        "  acre replay sqlite3.acre --with multi_arena:count=64,bytes=16K,arena:block=64K --without-frees\n"
        "  acre replay server.acre --with all --threads recorded --heap clean\n"
        "  acre replay --json sqlite3.acre --with std | jq '.resources[] | {name, ratio: .clean.ratio.median}'\n\n"
        "Exit status 1: a resource ran out of memory (--memory gives it more) or failed; 3: the trace was cut off, "
        "and\n"
        "its complete part was replayed.");
    command.runs([&, options] { return run_replay(*options, context); });
}

}  // namespace acre::tool
