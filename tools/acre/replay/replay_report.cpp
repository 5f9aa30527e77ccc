#include "replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "resources.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

double per_event(const replay_outcome& outcome, double nanoseconds) {
    return nanoseconds / static_cast<double>(std::max<std::uint64_t>(outcome.events, 1));
}

std::string failure_of(std::string_view name, const standing& failed) {
    if (failed.signal != 0) return fmt::format("{} ended with signal {} during the replay", name, failed.signal);
    return fmt::format("{} ran out of memory at event {}", name, failed.failed_step);
}

std::vector<std::string> row_of(const replay_outcome& outcome, std::string_view name, const standing& found) {
    if (found.failed()) return {std::string{name}, "failed", "", "", ""};
    return {std::string{name}, fmt::format("{:.1f}", per_event(outcome, found.nanoseconds.median)),
            fmt::format("{:.3f}", found.ratio.median),
            fmt::format("{:.3f} .. {:.3f}", found.ratio.low, found.ratio.high), bytes_text(found.peak_bytes)};
}

nlohmann::json standing_json(const replay_outcome& outcome, std::string_view name, const standing& found) {
    nlohmann::json entry{{"name", name}, {"failed", found.failed()}};
    if (found.failed()) {
        entry["why"] = failure_of(name, found);
        if (found.signal == 0) entry["failed_event"] = found.failed_step;
        return entry;
    }
    entry["ns_per_operation"] = per_event(outcome, found.nanoseconds.median);
    entry["peak_bytes"] = found.peak_bytes;
    entry["ratio"] = found.ratio.median;
    entry["ratio_low"] = found.ratio.low;
    entry["ratio_high"] = found.ratio.high;
    return entry;
}

std::vector<std::string> notes_of(const replay_outcome& outcome) {
    std::vector<std::string> notes;
    if (outcome.threads > 1) {
        notes.push_back(
            fmt::format("The program had {} threads; one thread replays all of them in the recorded order, "
                        "so what threads cost each other is not in these figures.",
                        outcome.threads));
    }
    if (outcome.littered) notes.emplace_back("The heap was fragmented before each round.");
    for (const contender& each : outcome.contenders) {
        if (each.resource == system_number) continue;
        const resource_entry& entry = resources()[each.resource];
        notes.push_back(fmt::format("{}: {}.", entry.name, entry.description));
    }
    return notes;
}

}  // namespace

bool replay_outcome::any_failed() const {
    return result.system.failed() ||
           std::any_of(result.standings.begin(), result.standings.end(), [](const standing& s) { return s.failed(); });
}

std::vector<std::string> replay_failures(const replay_outcome& outcome) {
    std::vector<std::string> sentences;
    if (outcome.result.system.failed()) sentences.push_back(failure_of("system", outcome.result.system));
    for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
        const standing& found = outcome.result.standings[i];
        if (found.failed()) sentences.push_back(failure_of(resources()[outcome.contenders[i].resource].name, found));
    }
    return sentences;
}

std::string replay_text(const replay_outcome& outcome) {
    std::string text =
        fmt::format("{} of {}, at most {} alive; {} of {}, CPU time\n\n", plural(outcome.events, "event", "events"),
                    outcome.trace, bytes_text(outcome.peak_bytes), plural(outcome.result.rounds, "round", "rounds"),
                    plural(outcome.result.repeats, "replay", "replays"));
    std::vector<std::vector<std::string>> rows{
        {"resource", "ns/event", "ratio", "95 % interval", "peak from upstream"}};
    rows.push_back(row_of(outcome, "system", outcome.result.system));
    for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
        rows.push_back(row_of(outcome, resources()[outcome.contenders[i].resource].name, outcome.result.standings[i]));
    }
    rows.push_back({"(loop alone)", fmt::format("{:.1f}", per_event(outcome, outcome.result.loop_nanoseconds.median)),
                    "", "", ""});
    text += table_text(rows, {0}) + "\n";
    for (const std::string& note : notes_of(outcome)) text += wrapped(note, 2);
    return text;
}

nlohmann::json replay_json(const replay_outcome& outcome) {
    nlohmann::json found = nlohmann::json::array();
    found.push_back(standing_json(outcome, "system", outcome.result.system));
    for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
        found.push_back(
            standing_json(outcome, resources()[outcome.contenders[i].resource].name, outcome.result.standings[i]));
    }
    return {{"trace", outcome.trace},
            {"events", outcome.events},
            {"threads", outcome.threads},
            {"live_peak_bytes", outcome.peak_bytes},
            {"littered", outcome.littered},
            {"rounds", outcome.result.rounds},
            {"replays_per_round", outcome.result.repeats},
            {"loop_ns_per_operation", per_event(outcome, outcome.result.loop_nanoseconds.median)},
            {"notes", notes_of(outcome)},
            {"resources", found}};
}

}  // namespace acre::tool
