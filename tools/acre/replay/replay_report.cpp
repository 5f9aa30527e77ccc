#include "replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "contender_list.hpp"
#include "resources.hpp"
#include "sequence_builder.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

// With more contenders their descriptions are left out; --list has them.
constexpr std::size_t max_described = 8;

double per_event(const replay_outcome& outcome, double nanoseconds) {
    return nanoseconds / static_cast<double>(std::max<std::uint64_t>(outcome.events, 1));
}

/// Peak bytes held divided by peak live bytes.
double expansion(const replay_outcome& outcome, const standing& found) {
    return static_cast<double>(found.peak_bytes) / static_cast<double>(std::max<std::uint64_t>(outcome.peak_bytes, 1));
}

/// The name with the parameters that were played.
std::string name_of(const replay_outcome& outcome, std::size_t number) {
    if (number == 0) return std::string{resources()[system_number].name};
    contender played = outcome.contenders[number - 1];
    played.parameters = outcome.found(0, number).parameters;
    return contender_text(played) + (played.without_frees ? ", frees left out" : "");
}

const char* heap_name(const heap_outcome& heap) {
    return heap.fragmentation_blocks == 0 ? "clean" : "fragmented";
}

bool has_failed(const replay_outcome& outcome, std::size_t number) {
    for (std::size_t heap = 0; heap < outcome.heaps.size(); ++heap) {
        if (outcome.found(heap, number).failed()) return true;
    }
    return false;
}

std::vector<std::string> time_row(const replay_outcome& outcome, std::size_t heap, std::size_t number) {
    const standing& found = outcome.found(heap, number);
    std::vector<std::string> row{name_of(outcome, number)};
    if (found.failed()) {
        row.emplace_back("failed");
        return row;
    }
    row.push_back(fmt::format("{:.1f}", std::max(per_event(outcome, found.net_nanoseconds.median), 0.0)));
    row.push_back(fmt::format("{:.3f}", found.ratio.median));
    row.push_back(fmt::format("{:.3f} .. {:.3f}", found.ratio.low, found.ratio.high));
    if (outcome.lanes > 1) row.push_back(time_text(found.wall_nanoseconds.median));
    return row;
}

std::string time_table(const replay_outcome& outcome, std::size_t heap) {
    const heap_outcome& of = outcome.heaps[heap];
    std::vector<std::vector<std::string>> rows{{"resource", "ns/event", "x malloc", interval_name(of.result.rounds)}};
    if (outcome.lanes > 1) rows[0].emplace_back("wall time");
    for (std::size_t i = 0; i < outcome.players(); ++i) rows.push_back(time_row(outcome, heap, i));
    std::string title = fmt::format("Time, {} heap", heap_name(of));
    if (of.fragmentation_blocks != 0)
        title += fmt::format(" (half of {} freed)", plural(of.fragmentation_blocks, "block", "blocks"));
    return fmt::format("{}; {} of {}; without the {:.1f} ns of the empty loop\n\n{}\n", styled(title, style::bold),
                       plural(of.result.rounds, "round", "rounds"), plural(of.result.repeats, "replay", "replays"),
                       per_event(outcome, of.result.loop_nanoseconds.median), table_text(rows, {0}));
}

std::string memory_table(const replay_outcome& outcome) {
    std::vector<std::vector<std::string>> rows{{"resource", "held", "expansion", "from the system"}};
    for (std::size_t i = 0; i < outcome.players(); ++i) {
        const standing& found = outcome.found(0, i);
        if (has_failed(outcome, i)) continue;
        rows.push_back({name_of(outcome, i), bytes_text(found.peak_bytes),
                        fmt::format("{:.2f}", expansion(outcome, found)), bytes_text(found.system_bytes)});
    }
    return fmt::format("{}, clean heap\n\n{}\n", styled("Peak memory", style::bold), table_text(rows, {0}));
}

std::string thread_note(const replay_outcome& outcome) {
    if (outcome.lanes > 1) {
        return fmt::format(
            "{} played, as recorded. The allocation, reallocations and free of each object kept their order: a thread "
            "waited only for another thread's step on the same object. The time is the CPU time of all threads, "
            "without "
            "their waiting.",
            plural(outcome.lanes, "thread", "threads"));
    }
    return fmt::format(
        "The program had {} threads. One thread replayed them all in the recorded order, so these figures do not "
        "include what threads cost each other; --threads recorded plays each in a thread of its own.",
        outcome.threads);
}

std::vector<std::string> notes_of(const replay_outcome& outcome) {
    std::vector<std::string> notes;
    if (!outcome.is_whole()) {
        notes.push_back(outcome.is_sample
                            ? sample_note(outcome.events, outcome.recorded_events)
                            : beginning_note(outcome.events, outcome.recorded_events, outcome.is_as_asked));
    }
    if (outcome.threads > 1) notes.push_back(thread_note(outcome));
    if (outcome.reserved_blocks > 0) notes.push_back(reserved_note(outcome.reserved_blocks, outcome.touched));
    std::vector<std::uint32_t> told;
    for (const contender& each : outcome.contenders) {
        if (outcome.contenders.size() > max_described) break;
        if (std::find(told.begin(), told.end(), each.resource) != told.end()) continue;
        told.push_back(each.resource);
        const resource_entry& entry = resources()[each.resource];
        notes.push_back(fmt::format("{}: {}.", entry.name, entry.description));
    }
    for (const left_out& each : outcome.others)
        notes.push_back(fmt::format("{} did not take part: {}.", each.name, each.why));
    return notes;
}

nlohmann::json interval_json(const replay_outcome& outcome, const interval& nanoseconds) {
    return {{"low", per_event(outcome, nanoseconds.low)},
            {"median", per_event(outcome, nanoseconds.median)},
            {"high", per_event(outcome, nanoseconds.high)}};
}

nlohmann::json times_json(const replay_outcome& outcome, const standing& found) {
    return {{"ns_per_event", interval_json(outcome, found.net_nanoseconds)},
            {"wall_ns_per_event", interval_json(outcome, found.wall_nanoseconds)},
            {"ratio", {{"low", found.ratio.low}, {"median", found.ratio.median}, {"high", found.ratio.high}}}};
}

nlohmann::json parameters_json(const replay_outcome& outcome, std::size_t number) {
    nlohmann::json object = nlohmann::json::object();
    const standing& found = outcome.found(0, number);
    const std::uint32_t resource = number == 0 ? system_number : outcome.contenders[number - 1].resource;
    for (const parameter_entry& each : resources()[resource].parameters) {
        const std::uint64_t value = found.parameters.*each.member;
        if (value != 0) object[std::string{each.name}] = value;
    }
    return object;
}

nlohmann::json player_json(const replay_outcome& outcome, std::size_t number,
                           const std::vector<replay_failure>& failures) {
    const std::uint32_t resource = number == 0 ? system_number : outcome.contenders[number - 1].resource;
    const standing& found = outcome.found(0, number);
    const bool failed = has_failed(outcome, number);
    nlohmann::json entry{{"name", resources()[resource].name},
                         {"parameters", parameters_json(outcome, number)},
                         {"frees", number == 0 || !outcome.contenders[number - 1].without_frees},
                         {"failed", failed}};
    for (const replay_failure& each : failures) {
        if (each.player == number) entry["why"] = failure_text(each);
    }
    if (failed) return entry;
    for (std::size_t heap = 0; heap < outcome.heaps.size(); ++heap) {
        entry[heap_name(outcome.heaps[heap])] = times_json(outcome, outcome.found(heap, number));
    }
    entry["held_bytes"] = found.peak_bytes;
    entry["expansion"] = expansion(outcome, found);
    entry["system_bytes"] = found.system_bytes;
    return entry;
}

nlohmann::json heaps_json(const replay_outcome& outcome) {
    nlohmann::json object = nlohmann::json::object();
    for (const heap_outcome& each : outcome.heaps) {
        object[heap_name(each)] = {{"rounds", each.result.rounds},
                                   {"replays_per_round", each.result.repeats},
                                   {"fragmentation_blocks", each.fragmentation_blocks},
                                   {"loop_ns_per_event", per_event(outcome, each.result.loop_nanoseconds.median)}};
    }
    return object;
}

std::string failure_text(const trial_result& how) {
    if (how.signal != 0) return fmt::format("was killed by signal {} during the replay", how.signal);
    switch (how.failure) {
        case trial_failure::misaligned:
            return "returned a block that is not aligned as requested";
        case trial_failure::wrong_content:
            return "handed out memory that was still in use";
        case trial_failure::not_started:
            return std::string{"could not be started"} + (how.why[0] == '\0' ? "" : ": ") + how.why.data();
        case trial_failure::out_of_memory:
        case trial_failure::none:
            break;
    }
    return "ran out of memory";
}

}  // namespace

bool replay_outcome::any_failed() const {
    for (std::size_t i = 0; i < players(); ++i) {
        if (has_failed(*this, i)) return true;
    }
    return false;
}

std::vector<replay_failure> replay_failures(const replay_outcome& outcome) {
    std::vector<replay_failure> failures;
    for (std::size_t i = 0; i < outcome.players(); ++i) {
        for (std::size_t heap = 0; heap < outcome.heaps.size(); ++heap) {
            const standing& found = outcome.found(heap, i);
            if (!found.failed()) continue;
            failures.push_back({name_of(outcome, i), found.last, i});
            break;
        }
    }
    return failures;
}

std::string failure_text(const replay_failure& failure) {
    return failure.name + " " + failure_text(failure.how) + (failure.event.empty() ? "" : " at " + failure.event);
}

std::string replay_text(const replay_outcome& outcome) {
    std::string text =
        fmt::format("{}{} of {}, at most {} live\n\n", outcome.is_whole() ? "" : "the first ",
                    plural(outcome.events, "event", "events"), outcome.trace, bytes_text(outcome.peak_bytes));
    for (std::size_t heap = 0; heap < outcome.heaps.size(); ++heap) text += time_table(outcome, heap);
    text += memory_table(outcome);
    for (const std::string& note : notes_of(outcome)) text += wrapped(note, 2);
    return text;
}

nlohmann::json replay_json(const replay_outcome& outcome, const std::vector<replay_failure>& failures) {
    nlohmann::json players = nlohmann::json::array();
    for (std::size_t i = 0; i < outcome.players(); ++i) players.push_back(player_json(outcome, i, failures));
    nlohmann::json failed = nlohmann::json::array();
    for (const replay_failure& each : failures) {
        failed.push_back({{"name", each.name}, {"why", failure_text(each)}});
    }
    nlohmann::json others = nlohmann::json::array();
    for (const left_out& each : outcome.others) others.push_back({{"name", each.name}, {"why", each.why}});
    return {{"command", "replay"},
            {"trace", outcome.trace},
            {"events", outcome.events},
            {"recorded_events", outcome.recorded_events},
            {"threads", outcome.threads},
            {"threads_played", outcome.lanes},
            {"live_peak_bytes", outcome.peak_bytes},
            {"reserved_blocks", outcome.reserved_blocks},
            {"heaps", heaps_json(outcome)},
            {"resources", players},
            {"failures", failed},
            {"left_out", others},
            {"notes", notes_of(outcome)}};
}

}  // namespace acre::tool
