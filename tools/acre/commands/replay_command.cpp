#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.hpp"
#include "replay/comparison.hpp"
#include "replay/replay_report.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "text/terminal.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::uint32_t litter_blocks = 1'000'000;
constexpr std::uint32_t most_rounds = 100'000;

struct replay_options {
    std::string file;
    std::vector<std::string> with;
    std::uint32_t rounds = 0;
    bool littered = false;
    bool json = false;
};

std::vector<contender> contenders_of(const std::vector<std::string>& lists) {
    std::vector<contender> contenders;
    std::string list;
    for (const std::string& each : lists) list += each + ",";  // without the last one an empty last name is not seen
    std::istringstream names{list};
    for (std::string name; std::getline(names, name, ',');) {
        const std::uint32_t number = resource_number(CLI::detail::trim(name));
        const bool known = std::any_of(contenders.begin(), contenders.end(),
                                       [&](const contender& each) { return each.resource == number; });
        // The system's malloc takes part in every replay.
        if (number != system_number && !known) contenders.push_back({number, {}});
    }
    return contenders;
}

sequence read_sequence(trace_reader& reader, replay_outcome& outcome, const command_context& context) {
    progress_bar bar{"reading", !context.quiet};
    reader.on_progress([&](double done) { bar.show(done); });
    sequence_builder builder;
    reader.for_each([&](const event& e) {
        builder.add(e);
        ++outcome.events;
        outcome.threads = std::max<std::uint64_t>(outcome.threads, e.thread + std::uint64_t{1});
    });
    return builder.finish();
}

int run_replay(const replay_options& options, const command_context& context) {
    replay_outcome outcome;
    outcome.contenders = contenders_of(options.with);
    trace_reader reader{options.file};
    outcome.trace = options.file;
    if (reader.header().is_sampled()) {
        throw tool_error{"'" + options.file + "' is sampled, and most of what the program did is not in it: record " +
                         "without --sample to replay"};
    }
    const sequence steps = read_sequence(reader, outcome, context);
    if (outcome.events == 0) throw tool_error{"'" + options.file + "' has no events to replay"};
    outcome.peak_bytes = steps.peak_bytes;
    outcome.littered = options.littered;

    comparison_options how;
    how.rounds = options.rounds;
    how.litter = options.littered ? litter_blocks : 0;
    {
        progress_bar bar{"replaying", !context.quiet};
        how.progress = [&](double done) { bar.show(done); };
        outcome.result = compare(*context.host, steps.view(), outcome.contenders, how);
    }
    if (options.json) {
        print(text_of(replay_json(outcome)));
    } else {
        print(replay_text(outcome));
    }
    for (const std::string& sentence : replay_failures(outcome)) tell(sentence);
    const int missing = report_missing(reader);
    return outcome.any_failed() ? status_failure : missing;
}

std::string known_resources() {
    std::string text = "Resources:\n";
    for (const resource_entry& entry : resources()) {
        if (entry.name != resources()[loop_number].name)
            text += fmt::format("  {:<15}{}\n", entry.name, entry.description);
    }
    return text;
}

}  // namespace

void add_replay_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<replay_options>();
    CLI::App* command = app.add_subcommand(
        "replay", "Plays a trace's allocations and frees over other resources, beside the system's malloc");
    command->add_option("FILE", options->file, "The trace")->required();
    command->add_option("--with", options->with, "Names of resources, separated by commas")
        ->required()
        ->allow_extra_args(false);
    command->add_option("--rounds", options->rounds, "Rounds to play; without it as many as the figures need")
        ->check(CLI::Range(std::uint32_t{1}, most_rounds));
    command->add_flag("--littered", options->littered, "Fragment the heap first, as a long-running program does");
    command->add_flag("--json", options->json, "Print an object for machines");
    command->footer(
        known_resources() +
        "\nExamples:\n"
        "  acre replay sqlite3.acre --with std_pool,arena\n"
        "  acre replay sqlite3.acre --with new_delete --rounds 31 --littered\n"
        "  acre replay --json sqlite3.acre --with std_pool | jq '.resources[] | {name, ratio}'\n\n"
        "Exit status 1: a resource ran out of memory; 3: the trace was cut off and its whole part replayed.");
    command->callback([&, options] { action = [&, options] { return run_replay(*options, context); }; });
}

}  // namespace acre::tool
