#include "try_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/terminal.hpp"
#include "text/text.hpp"
#include "ways.hpp"

namespace acre::tool {

namespace {

// A difference of CPU time that is worth a change of malloc.
constexpr double worth_it = 0.02;

// Times the memory of the program as it is, from where a way that needs less of it is named as well.
constexpr double much_memory = 1.25;

double cpu_of(const measured_run& run) {
    return run.cpu();
}
double wall_of(const measured_run& run) {
    return run.wall;
}
double faults_of(const measured_run& run) {
    return static_cast<double>(run.minor_faults + run.major_faults);
}

std::string line_of(const std::vector<std::string>& command) {
    std::string line;
    for (const std::string& each : command) line += (line.empty() ? "" : " ") + printable(each);
    return line;
}

std::string seconds_text(double seconds) {
    return time_text(seconds * 1e9);
}

std::vector<std::string> row_of(const contest_result& result, std::size_t number) {
    const way_result& each = result.ways[number];
    const interval ratio = result.cpu_ratio(number);
    const bool has_interval = number != 0 && result.rounds >= 3;
    return {each.how.name,
            seconds_text(each.of(cpu_of).median),
            fmt::format("{:.3f}", ratio.median),
            has_interval ? fmt::format("{:.3f} .. {:.3f}", ratio.low, ratio.high) : "",
            seconds_text(each.of(wall_of).median),
            bytes_text(static_cast<std::uint64_t>(each.of(peak_of).median)),
            count_text(static_cast<std::uint64_t>(each.of(faults_of).median))};
}

std::vector<std::size_t> ranked(const contest_result& result, bool groups) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < result.ways.size(); ++i) {
        if (result.ways[i].failure.empty() && result.ways[i].how.group.has_value() == groups) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{result.cpu_ratio(i).median, i}; });
    return order;
}

/// A group's peak memory, as a ratio to that of the way that groups are compared with.
double peak_of_group(const contest_result& result, std::size_t number) {
    return result.peak_ratio(number, base_of_groups(result)).median;
}

std::string command_for(const way& how, const std::vector<std::string>& command, const std::string& input) {
    std::string line = words_before_command(how);
    if (!line.empty()) line += " ";
    for (std::size_t i = 0; i < command.size(); ++i) line += (i == 0 ? "" : " ") + quoted_for_shell(command[i]);
    if (!input.empty()) line += " < " + quoted_for_shell(input);
    return line;
}

/// How to use a way: a command to paste, or what to do before there can be one.
std::string use_of(const way& how, const std::vector<std::string>& command, const std::string& input) {
    if (!how.is_linked || !how.command.empty()) return "    " + command_for(how, command, input) + "\n";
    return wrapped(
               "Preload a copy of this library, or a link to it, whose path has no blank, no colon and no $, which "
               "LD_PRELOAD cannot hold:",
               2) +
           "    " + quoted_for_shell(how.library) + "\n";
}

/// The ways that may be as fast as the best: 1 is in the interval of their ratio to it.
std::string not_told_apart(const contest_result& result) {
    const std::vector<std::size_t> order = ranking(result);
    std::vector<std::string> names;
    for (const std::size_t each : order) {
        if (each != 0 && each != order.front() && result.cpu_ratio(each, order.front()).low <= 1)
            names.push_back(result.ways[each].how.name);
    }
    if (names.empty()) return {};
    return wrapped(fmt::format("These rounds do not tell whether {} takes less than that.", fmt::join(names, " or ")),
                   2);
}

/// What a way beside the best takes that adds at most half of its memory; empty where the best adds little.
std::string thriftier(const contest_result& result, std::size_t best) {
    const double memory = result.peak_ratio(best).median;
    if (memory < much_memory) return {};
    for (const std::size_t each : ranking(result)) {
        const interval ratio = result.cpu_ratio(each);
        const double less_memory = result.peak_ratio(each).median;
        const bool saves = each != 0 && each != best && ratio.median <= 1 - worth_it && ratio.high < 1;
        if (!saves || less_memory - 1 > (memory - 1) / 2) continue;
        return wrapped(fmt::format("With {} it takes {:.1f} % less CPU time and {:.2f} of the memory.",
                                   result.ways[each].how.name, 100 * (1 - ratio.median), less_memory),
                       2);
    }
    return wrapped("It takes that memory to save the time: no way that adds at most half as much saves 2 %.", 2);
}

/// The sentence that answers the question: which malloc, and what it gives.
std::string conclusion(const contest_result& result, const std::vector<std::string>& command) {
    if (!has_comparison(result)) return wrapped("Nothing could be compared with the program as it is.", 2);
    const std::size_t best = ranking(result).front();
    const interval ratio = result.cpu_ratio(best);
    const bool is_worth_it = best != 0 && ratio.median <= 1 - worth_it;
    if (is_worth_it && result.rounds < 3) {
        return wrapped(
            fmt::format("With {} the program took {:.1f} % less CPU time in {}: too few to exclude chance.",
                        result.ways[best].how.name, 100 * (1 - ratio.median), plural(result.rounds, "round", "rounds")),
            2);
    }
    if (is_worth_it && ratio.high >= 1) {
        return wrapped(
            fmt::format("With {} the program takes {:.1f} % less CPU time in the median, which may be chance: "
                        "its interval reaches above 1.",
                        result.ways[best].how.name, 100 * (1 - ratio.median)),
            2);
    }
    if (!is_worth_it) {
        return wrapped(
            fmt::format("No malloc that was tried takes {:.0f} % less CPU time than the program as it is: leave it.",
                        100 * worth_it),
            2);
    }
    const double memory = result.peak_ratio(best).median;
    return wrapped(fmt::format("With {} the program takes {:.1f} % less CPU time ({:.1f} to {:.1f}), and its peak "
                               "memory is {:.2f} of that as it is:",
                               result.ways[best].how.name, 100 * (1 - ratio.median), 100 * (1 - ratio.high),
                               100 * (1 - ratio.low), memory),
                   2) +
           use_of(result.ways[best].how, command, result.input) + thriftier(result, best) + not_told_apart(result);
}

std::vector<std::string> notes_of(const contest_result& result) {
    std::vector<std::string> notes = result.notes;
    if (!result.failure_as_it_is.empty())
        notes.push_back(fmt::format("As it is the program {}.", result.failure_as_it_is));
    if (result.left_running != 0) notes.push_back(left_running_text(result.left_running));
    if (result.was_interrupted) notes.emplace_back("Interrupted: the figures are those of the rounds before.");
    const bool used_all_time = !result.was_interrupted && has_comparison(result);
    if (used_all_time && result.rounds < 3) {
        notes.emplace_back(
            "The time allowed only this many rounds, so nothing is known about the noise: --budget 5m allows more.");
    } else if (used_all_time && !result.is_precise) {
        notes.push_back(
            fmt::format("The budget ended before the intervals were {:.3g} % wide: --budget allows more rounds.",
                        100 * result.precision));
    }
    if (result.compared == same_result::status) {
        notes.emplace_back(
            "The program does not write the same output each time, so only its exit status was compared: --check "
            "COMMAND can do more.");
    }
    for (const way_result& each : result.ways) {
        if (!each.failure.empty()) notes.push_back(fmt::format("{}: it {}.", each.how.name, each.failure));
    }
    return notes;
}

const char* requirement_text(same_result compared) {
    switch (compared) {
        case same_result::output_and_status:
            return "the same output and exit status each time";
        case same_result::status:
            return "the same exit status each time";
        case same_result::checked:
            return "each output accepted by the check";
        case same_result::unchecked:
            break;
    }
    return "results not compared";
}

nlohmann::json interval_json(const interval& of) {
    return {{"low", of.low}, {"median", of.median}, {"high", of.high}};
}

/// With the way that the group's figures are compared with.
nlohmann::json group_json(const contest_result& result, std::size_t number) {
    const way_result& each = result.ways[number];
    const way_group& group = *each.how.group;
    nlohmann::json sites = nlohmann::json::array();
    for (const way_group::site& site : group.sites) {
        sites.push_back({{"place", site.place},
                         {"module", site.module},
                         {"build_id", site.build_id},
                         {"offset", fmt::format("{:#x}", site.offset)},
                         {"allocations", site.allocations}});
    }
    nlohmann::json object{{"group", group.name},
                          {"policy", group.policy},
                          {"allocations", group.allocations},
                          {"sites", sites},
                          {"failed", !each.failure.empty()}};
    if (!each.failure.empty()) {
        object["why"] = each.failure;
        return object;
    }
    const std::size_t base = base_of_groups(result);
    object["compared_with"] = result.ways[base].how.name;
    object["cpu_ratio"] = interval_json(result.cpu_ratio(number, base));
    object["cpu_seconds_saved"] = interval_json(result.cpu_saved(number, base));
    object["cpu_seconds"] = interval_json(each.of(cpu_of));
    object["cpu_seconds_in_rounds"] = each.in_rounds(cpu_of);
    object["peak_bytes"] = interval_json(each.of(peak_of));
    object["peak_ratio"] = peak_of_group(result, number);
    return object;
}

nlohmann::json way_json(const contest_result& result, std::size_t number) {
    const way_result& each = result.ways[number];
    nlohmann::json variables = nlohmann::json::object();
    for (const auto& [name, value] : each.how.variables) variables[name] = value;
    nlohmann::json object{{"name", each.how.name},
                          {"description", each.how.description},
                          {"environment", variables},
                          {"failed", !each.failure.empty()}};
    if (!each.how.library.empty()) object["library"] = each.how.library;
    if (!each.failure.empty()) {
        object["why"] = each.failure;
        return object;
    }
    object["cpu_seconds"] = interval_json(each.of(cpu_of));
    object["cpu_seconds_in_rounds"] = each.in_rounds(cpu_of);
    object["cpu_ratio"] = interval_json(result.cpu_ratio(number));
    object["wall_seconds"] = interval_json(each.of(wall_of));
    object["peak_bytes"] = interval_json(each.of(peak_of));
    object["page_faults"] = interval_json(each.of(faults_of));
    return object;
}

}  // namespace

bool has_comparison(const contest_result& result) {
    return ranking(result).size() + group_ranking(result).size() > 1;
}

std::vector<std::size_t> ranking(const contest_result& result) {
    return ranked(result, false);
}

std::vector<std::size_t> group_ranking(const contest_result& result) {
    return ranked(result, true);
}

std::size_t base_of_groups(const contest_result& result) {
    const auto has_base = [](const way_result& each) { return each.how.group && each.how.beside; };
    const auto group = std::ranges::find_if(result.ways, has_base);
    if (group == result.ways.end()) return 0;
    const std::size_t base = *group->how.beside;
    return result.ways[base].failure.empty() ? base : 0;
}

std::vector<std::vector<std::string>> try_rows(const contest_result& result) {
    std::vector<std::vector<std::string>> rows{
        {"", "CPU", "x as it is", interval_name(result.rounds), "wall time", "peak memory", "page faults"}};
    for (const std::size_t i : ranking(result)) rows.push_back(row_of(result, i));
    return rows;
}

std::vector<std::vector<std::string>> try_group_rows(const contest_result& result) {
    const std::vector<std::size_t> order = group_ranking(result);
    if (order.empty()) return {};
    const std::size_t base = base_of_groups(result);
    std::vector<std::vector<std::string>> rows{{"this group alone", "policy", "allocations", "CPU saved",
                                                "x " + result.ways[base].how.name, interval_name(result.rounds),
                                                "x memory"}};
    for (const std::size_t i : order) {
        const way_group& group = *result.ways[i].how.group;
        const interval ratio = result.cpu_ratio(i, base);
        const double saved = result.cpu_saved(i, base).median;
        rows.push_back({printable(group.name), group.policy, count_text(group.allocations),
                        (saved < 0 ? "-" : "") + seconds_text(std::abs(saved)), fmt::format("{:.3f}", ratio.median),
                        result.rounds >= 3 ? fmt::format("{:.3f} .. {:.3f}", ratio.low, ratio.high) : "",
                        fmt::format("{:.2f}", peak_of_group(result, i))});
    }
    return rows;
}

std::string try_title(const contest_result& result, const std::vector<std::string>& command) {
    return fmt::format("{}: {} in {}, {}", line_of(command), plural(result.rounds, "round", "rounds"),
                       seconds_text(result.seconds), requirement_text(result.compared));
}

std::string try_answer(const contest_result& result, const std::vector<std::string>& command) {
    std::string text = conclusion(result, command);
    for (const std::string& note : notes_of(result)) text += wrapped(note, 2);
    return text;
}

std::string try_text(const contest_result& result, const std::vector<std::string>& command) {
    std::string text = try_title(result, command) + "\n\n" + table_text(try_rows(result), {0});
    if (const auto groups = try_group_rows(result); !groups.empty()) text += "\n" + table_text(groups, {0, 1});
    return text + "\n" + try_answer(result, command);
}

nlohmann::json try_json(const contest_result& result, const std::vector<std::string>& command) {
    nlohmann::json ways = nlohmann::json::array();
    nlohmann::json groups = nlohmann::json::array();
    for (std::size_t i = 0; i < result.ways.size(); ++i) {
        if (result.ways[i].how.group) {
            groups.push_back(group_json(result, i));
        } else {
            ways.push_back(way_json(result, i));
        }
    }
    return {{"command", "try"},
            {"program", command},
            {"rounds", result.rounds},
            {"seconds", result.seconds},
            {"precise", result.is_precise},
            {"interrupted", result.was_interrupted},
            {"compared", requirement_text(result.compared)},
            {"ways", ways},
            {"groups", groups},
            {"notes", notes_of(result)}};
}

}  // namespace acre::tool
