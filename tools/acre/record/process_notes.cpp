#include "process_notes.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "text/text.hpp"

namespace acre::tool {

namespace {

using raw::report_kind;

std::string what_it_is(const process_report& report) {
    if (report.kind == report_kind::lost_child)
        return "could not make a log" + (report.error != 0 ? std::string{": "} + std::strerror(report.error) : "");
    switch (report.kind) {
        case report_kind::executes_static:
            return "is statically linked";
        case report_kind::executes_foreign:
            return "is made for another processor or C library";
        case report_kind::executes_privileged:
            return "is setuid, setgid or has file capabilities";
        case report_kind::executes_sanitized:
            return "is built with a sanitizer";
        case report_kind::executes_restricted:
            return "runs under a restriction of its system calls (seccomp)";
        case report_kind::own_malloc:
            return "has a malloc of its own";
        default:
            return "could not start its recorder or reach the log, for example as another user or in a sandbox";
    }
}

bool executes(report_kind kind) {
    return kind == report_kind::executes || kind == report_kind::executes_static ||
           kind == report_kind::executes_foreign || kind == report_kind::executes_privileged ||
           kind == report_kind::executes_sanitized || kind == report_kind::executes_restricted;
}

/// The executions of each process, without those that failed.
using executions = std::map<std::uint32_t, std::vector<process_report>>;

executions successful(const std::vector<process_report>& reports) {
    executions found;
    for (const process_report& each : reports) {
        std::vector<process_report>& of_process = found[each.process];
        if (executes(each.kind)) of_process.push_back(each);
        if (each.kind == report_kind::failed_to_execute && !of_process.empty()) of_process.pop_back();
    }
    return found;
}

/// Which program could not be recorded, and why.
std::string described(const process_report& report) {
    const bool is_cut = report.name.size() + 1 == sizeof(raw::process_report::name);
    const std::string name = report.name.empty() ? "a program" : (is_cut ? "'..." : "'") + report.name + "'";
    const std::string number = report.process == 0 ? "" : " (" + std::to_string(report.process) + ")";
    return name + number + " " + what_it_is(report);
}

/// Adds the programs of one process that left no log although nothing was known to prevent that: the last ones, as it
/// is not known which.
void add_silent(const std::vector<process_report>& executed, std::size_t logs, std::vector<std::string>& lost) {
    for (auto each = executed.rbegin(); each != executed.rend(); ++each) {
        if (each->kind != report_kind::executes) continue;
        if (logs > 0) {
            --logs;
            continue;
        }
        lost.push_back(described(*each));
    }
}

/// Its recorder itself said that it makes no log.
bool says_no_log(const process_report& report) {
    return report.kind == report_kind::lost_child || report.kind == report_kind::own_malloc;
}

std::vector<std::string> find_lost(const process_reports& reports, const executed_logs& logs, std::uint32_t started) {
    std::vector<std::string> lost;
    for (const auto& [process, executed] : successful(reports.all)) {
        for (const process_report& each : executed) {
            if (each.kind != report_kind::executes) lost.push_back(described(each));
        }
        const auto with_log = logs.find(process);
        const std::size_t count = with_log == logs.end() ? 0 : with_log->second;
        const auto of_process = [of = process](const process_report& each) {
            return each.process == of && says_no_log(each);
        };
        const auto told = static_cast<std::size_t>(std::count_if(reports.all.begin(), reports.all.end(), of_process));
        add_silent(executed, count - std::min<std::size_t>(count, process == started ? 1 : 0) + told, lost);
    }
    for (const process_report& each : reports.all) {
        if (says_no_log(each)) lost.push_back(described(each));
    }
    return lost;
}

std::string note_of_lost(const std::vector<std::string>& lost) {
    constexpr std::size_t named = 5;
    std::string note = plural(lost.size(), "program", "programs") + " could not be recorded: ";
    for (std::size_t i = 0; i < std::min(lost.size(), named); ++i) note += (i == 0 ? "" : "; ") + lost[i];
    if (lost.size() > named) note += "; and " + std::to_string(lost.size() - named) + " more";
    return note + ".";
}

std::size_t count_unwanted(const process_reports& reports) {
    std::set<std::uint32_t> processes;
    std::size_t without_number = 0;
    for (const process_report& each : reports.all) {
        if (each.kind != report_kind::unwanted_child) continue;
        if (each.process == 0) ++without_number;
        if (each.process != 0) processes.insert(each.process);
    }
    return processes.size() + without_number;
}

}  // namespace

std::vector<std::string> notes_about(const process_reports& reports, const executed_logs& logs, std::uint32_t started,
                                     bool with_children) {
    std::vector<std::string> notes;
    if (const std::size_t unwanted = count_unwanted(reports); unwanted > 0 && !with_children) {
        notes.push_back("It started " + plural(unwanted, "process", "processes") +
                        ", not recorded; --children records them too.");
    }
    if (const std::vector<std::string> lost = find_lost(reports, logs, started); !lost.empty())
        notes.push_back(note_of_lost(lost));
    if (reports.more > 0) {
        notes.push_back("There were so many processes that for " + std::to_string(reports.more) +
                        " more it is not known whether they could be recorded.");
    }
    return notes;
}

}  // namespace acre::tool
