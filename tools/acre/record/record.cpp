#include "record.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "child_process.hpp"
#include "convert.hpp"
#include "launch.hpp"
#include "process_notes.hpp"
#include "programs/preloadable_library.hpp"
#include "programs/program.hpp"
#include "programs/temporary_directory.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"

namespace acre::tool {

namespace {

namespace fs = std::filesystem;

/// Throws tool_error unless this process may open the files that a recording needs besides those it has inherited: the
/// log of the program, pipes to child processes, and the raw directory, the log, an object file and the trace.
void check_open_files() {
    constexpr std::size_t needed = 8;
    std::vector<int> opened;
    while (opened.size() < needed) {
        const int file = ::open("/", O_PATH | O_CLOEXEC);
        if (file < 0) break;
        opened.push_back(file);
    }
    const int error = errno;
    for (const int each : opened) ::close(each);
    if (opened.size() < needed) throw tool_error{"cannot record: " + reason_of(error)};
}

/// Refuses to replace a file that is not a trace.
void check_output(const fs::path& output) {
    if (output.empty()) throw tool_error{"cannot record: the trace to write has no name"};
    std::error_code error;
    const fs::file_status status = fs::status(output, error);
    if (!fs::exists(status)) return;
    const std::string cannot = "cannot write a trace to '" + output.string() + "': it exists and ";
    if (!fs::is_regular_file(status)) throw tool_error{cannot + "is not a regular file"};
    if (fs::file_size(output, error) == 0) return;
    if (::faccessat(AT_FDCWD, output.c_str(), R_OK, AT_EACCESS) != 0)
        throw tool_error{cannot + "cannot be read, so it may not be a trace: " + reason_of(errno)};
    if (!begins_as_a_trace(output))
        throw tool_error{cannot + "is not a trace, and only traces are replaced: name another file with -o"};
}

void check_output_of(const recordable_program& program, const fs::path& output) {
    std::error_code ignored;
    if (fs::equivalent(program.path, output, ignored))
        throw tool_error{"cannot write a trace to '" + output.string() +
                         "': it is the program to record; name another file with -o"};
    check_output(output);
}

/// The logs of one process: one for each program that it executed, in that order.
using process_logs = std::vector<std::unique_ptr<raw_reader>>;
using logs_by_process = std::map<raw::process_identity, process_logs>;

/// Whether a file has nothing where a log has its head: the process ended before it wrote anything.
bool has_no_head(const fs::path& log) {
    std::ifstream file{log, std::ios::binary};
    std::string head(sizeof(raw::file_head), '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    return head.find_first_not_of('\0') == std::string::npos;
}

/// `unreadable`: gets the names of the logs that cannot be read.
logs_by_process read_logs(const fs::path& directory, std::vector<std::string>& unreadable) {
    logs_by_process logs;
    std::error_code missing;  // the program may have deleted the directory
    for (const auto& entry : fs::directory_iterator{directory, missing}) {
        if (entry.path().extension() != ".raw" || !entry.is_regular_file(missing)) continue;
        try {
            auto log = std::make_unique<raw_reader>(entry.path());
            logs[log->process()].push_back(std::move(log));
        } catch (const tool_error&) {
            if (!has_no_head(entry.path())) unreadable.push_back(entry.path().filename().string());
        }
    }
    for (auto& [process, of_process] : logs) {
        std::ranges::sort(of_process, {}, [](const auto& log) { return log->start().ticks; });
    }
    return logs;
}

/// The log of the last executed program that recorded anything, or null.
const raw_reader* last_with_rows(const process_logs& logs) {
    const auto found = std::find_if(logs.rbegin(), logs.rend(), [](const auto& log) { return log->row_count() > 0; });
    return found == logs.rend() ? nullptr : found->get();
}

std::string command_line(const std::vector<std::string>& command) {
    std::string line;
    for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
    return line;
}

/// Converts all logs of a raw directory, that of the started process first.
class directory_conversion {
public:
    directory_conversion(const fs::path& directory, fs::path output, const std::function<void(double)>& progress)
        : logs_{read_logs(directory, unreadable_)}, output_{std::move(output)}, progress_{progress} {
        for (const auto& [process, logs] : logs_) {
            if (logs.front()->has_flag(raw::flag_started)) started_ = process;
        }
    }

    /// Adds sentences about the processes without a log.
    void explain(const process_reports& reports) {
        executed_logs logs;
        for (const auto& [process, of_process] : logs_) {
            for (const auto& log : of_process) logs[process.number] += log->has_flag(raw::flag_forked) ? 0 : 1;
        }
        notes_ = notes_about(reports, logs, started_.number, with_children());
        add_empty_logs();
        add_unreadable_logs();
    }

    /// Whether the started process has recorded anything.
    bool has_rows() const {
        const auto logs = logs_.find(started_);
        return logs != logs_.end() && last_with_rows(logs->second) != nullptr;
    }

    /// Whether any process has recorded anything.
    bool any_has_rows() const {
        return std::ranges::any_of(logs_, [](const auto& of) { return last_with_rows(of.second) != nullptr; });
    }

    /// Whether the started process left a log without the rows that waited in its memory.
    bool lacks_rows() const {
        const auto logs = logs_.find(started_);
        return logs != logs_.end() && !logs->second.back()->is_whole();
    }

    /// Whether there is a log that cannot be read.
    bool has_unreadable() const { return !unreadable_.empty(); }

    /// Sentences about the processes without a log; after explain().
    const std::vector<std::string>& notes() const { return notes_; }

    /// Why the recorder could not write anything for the started process; `none` if nothing prevented it.
    raw::stop_reason obstacle(const fs::path& directory) const {
        const auto logs = logs_.find(started_);
        if (logs != logs_.end()) return logs->second.back()->stopped();
        // There is not even the first page of a log. The program had the same limits as this process.
        rlimit limit{};
        if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < raw::page_bytes) {
            return raw::stop_reason::file_size_limit;
        }
        if (memory_is_limited()) return raw::stop_reason::no_memory;
        std::error_code error;
        const fs::space_info space = fs::space(directory, error);
        return !error && space.available < raw::page_bytes ? raw::stop_reason::disk_full : raw::stop_reason::none;
    }

    /// Throws tool_error before it writes anything if one of the outputs exists and is not a trace. `end`: all zeros if
    /// unknown. `part`: what was converted while the program ran.
    record_result convert_all(const trace_header& header, raw::clock_pair end, converted_part* part = nullptr) {
        std::vector<const process_logs*> others;
        for (const auto& [process, logs] : logs_) {
            if (process != started_ && last_with_rows(logs) != nullptr) others.push_back(&logs);
        }
        const std::vector<fs::path> outputs = outputs_of(others);
        for (const fs::path& each : outputs) check_output(each);
        record_result result;
        if (has_rows()) convert_process(logs_.at(started_), header, end, output_, result, part);
        for (std::size_t i = 0; i < others.size(); ++i) {
            trace_header other;
            other.exit_status = trace_header::unknown_status;
            if (result.traces.empty()) other.notes = header.notes;  // the started process has no trace to hold them
            other.notes.emplace_back("Another recorded process started this one; its exit status is not known.");
            convert_process(*others[i], other, end, outputs[i], result);
        }
        return result;
    }

private:
    /// The traces of processes other than the one that was started. Processes of the same number, as in PID namespaces,
    /// get a second number.
    std::vector<fs::path> outputs_of(const std::vector<const process_logs*>& processes) const {
        std::vector<fs::path> outputs;
        std::map<std::uint32_t, int> seen;
        for (const process_logs* logs : processes) {
            const std::uint32_t number = logs->front()->process().number;
            const int same = ++seen[number];
            outputs.emplace_back(output_.string() + "." + std::to_string(number) +
                                 (same > 1 ? "-" + std::to_string(same) : ""));
        }
        return outputs;
    }

    /// Adds a sentence for each reason for which processes have a log without rows.
    void add_empty_logs() {
        std::map<std::string, std::size_t> processes;
        for (const auto& [process, logs] : logs_) {
            const stop_cause cause = cause_of(logs.back()->stopped(), logs.back()->folder());
            if (process != started_ && last_with_rows(logs) == nullptr && !cause.what.empty()) ++processes[cause.what];
        }
        for (const auto& [why, count] : processes) {
            notes_.push_back(plural(count, "process has", "processes have") +
                             " no trace, since the recording stopped when " + why + ".");
        }
    }

    void add_unreadable_logs() {
        if (unreadable_.empty()) return;
        std::ranges::sort(unreadable_);
        notes_.push_back(plural(unreadable_.size(), "log", "logs") + " could not be read, '" + unreadable_.front() +
                         (unreadable_.size() > 1 ? "' first" : "'") + "; what the process recorded there is missing.");
    }

    bool with_children() const {
        return std::ranges::any_of(logs_,
                                   [](const auto& of) { return of.second.front()->has_flag(raw::flag_children); });
    }

    void convert_process(const process_logs& logs, trace_header header, raw::clock_pair end, const fs::path& output,
                         record_result& result, converted_part* part = nullptr) {
        const raw_reader& log = *last_with_rows(logs);
        if (logs.size() > 1) {
            header.notes.push_back("The process executed " + std::to_string(logs.size()) +
                                   " programs one after the other; this trace is of '" + command_line(log.command()) +
                                   "'.");
            header.command.clear();
        }
        const bool first = result.traces.empty();
        if (first) header.notes.insert(header.notes.end(), notes_.begin(), notes_.end());
        // The CPU time is that of the process, so all programs that it executed count.
        for (const auto& each : logs) header.recording_time += recording_microseconds(*each, end_of(*each, end));
        const conversion made = convert(log, symbols_, header, end_of(log, end), output, progress_, part);
        result.events += made.events;
        result.converted_early += made.converted_early;
        result.unmatched_frees += made.unmatched_frees;
        result.traces.push_back(output);
        if (first) result.notes = made.notes;
    }

    static raw::clock_pair end_of(const raw_reader& log, raw::clock_pair known) {
        return known.ticks != 0 ? known : latest_clock(log);
    }

    /// For a log made on this machine since it booted the clocks now are the best; otherwise the last ones in the log.
    static raw::clock_pair latest_clock(const raw_reader& log) {
        const raw::clock_pair now = read_clocks();
        const bool plausible = now.ticks > log.last_clock().ticks && now.nanoseconds > log.last_clock().nanoseconds;
        return plausible ? now : log.last_clock();
    }

    std::vector<std::string> unreadable_;  // before logs_, whose reading fills it
    logs_by_process logs_;
    raw::process_identity started_{};  // all zeros if it left no log
    fs::path output_;
    const std::function<void(double)>& progress_;
    std::vector<std::string> notes_;
    symbol_sources symbols_;
};

std::string how_to_resume(const record_options& options) {
    return options.toggle_signal != 0 ? "send it the signal that --toggle-signal names"
                                      : "name a --toggle-signal, or let it call acre::resume_recording()";
}

std::string note_of_left(const std::vector<std::string>& running) {
    std::string which;
    for (const std::string& each : running) which += (which.empty() ? "" : ", ") + each;
    return "It left " + plural(running.size(), "process", "processes") + " running: " + which +
           "; what they do after its end is not recorded. To record a server that goes into the background, start "
           "it in the foreground, by an option of its own.";
}

/// What is left of a recording when the program has ended.
struct ended_recording {
    finished_program program;
    fs::path directory;  // of the raw logs
    process_reports reports;
    std::vector<raw::process_identity> lost_logs;
};

raw::stop_reason obstacle_of(const ended_recording& ended, const directory_conversion& conversion) {
    const auto started = static_cast<std::uint32_t>(ended.program.process);
    const bool is_lost = std::ranges::any_of(ended.lost_logs, [=](const auto& each) { return each.number == started; });
    return is_lost ? raw::stop_reason::log_lost : conversion.obstacle(ended.directory);
}

/// errno of the started process if it could not make a log; 0 otherwise.
int error_of_start(const ended_recording& ended) {
    const auto started = static_cast<std::uint32_t>(ended.program.process);
    for (const process_report& each : ended.reports.all) {
        if (each.kind == raw::report_kind::lost_child && each.process == started) return each.error;
    }
    return 0;
}

/// What prevented the recording of the started process, to follow how it ended; empty if nothing did.
std::string what_prevented(const ended_recording& ended, const directory_conversion& conversion) {
    const raw::stop_reason obstacle = obstacle_of(ended, conversion);
    if (obstacle == raw::stop_reason::log_lost)
        return ", but the recording is lost: its directory was deleted or moved meanwhile";
    if (conversion.lacks_rows())
        return ", but it was killed before it wrote what it had recorded, and acre could not read its memory";
    if (obstacle != raw::stop_reason::none) {
        const stop_cause cause = cause_of(obstacle, folder_of_recording(ended.directory));
        return ", but before its first allocation the recording stopped when " + cause.what + ": " + cause.remedy;
    }
    if (const int error = error_of_start(ended); error != 0)
        return ", and its recorder could not make a log: " + reason_of(error);
    return conversion.has_unreadable() ? ", but a log could not be read" : "";
}

/// Why there was nothing to record of the started process, to follow how it ended.
std::string what_was_not_there(const record_options& options) {
    if (options.paused) return " before its recording was resumed: " + how_to_resume(options);
    if (options.sampling_period > 1) return ", and none of its allocations was in the sample: use a smaller --sample";
    return ", and the recorder saw no allocation";
}

std::string note_of_signal(int signal) {
    return "Signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ") ended it.";
}

/// The sentences about how the program ended.
std::vector<std::string> notes_of_end(const finished_program& program) {
    std::vector<std::string> notes;
    if (program.ending_signal != 0) notes.push_back(note_of_signal(program.ending_signal));
    if (!program.left_running.empty()) notes.push_back(note_of_left(program.left_running));
    return notes;
}

/// The result without a trace, of a recording that failed or of a program that had nothing to record.
record_result without_trace(std::vector<std::string> notes, const std::string& why, bool is_failure) {
    record_result result;
    result.notes = std::move(notes);
    result.why_nothing = "nothing was recorded: " + why;
    result.is_failure = is_failure;
    return result;
}

/// Writes the traces of a raw directory, if anything at all was recorded.
record_result convert_recording(const record_options& options, const ended_recording& ended,
                                const progress_function& progress) {
    const finished_program& finished = ended.program;
    directory_conversion conversion{ended.directory, options.output, progress};
    conversion.explain(ended.reports);
    const std::string prevented = conversion.has_rows() ? "" : what_prevented(ended, conversion);
    const std::string why = "'" + options.command.front() + "' ended with status " +
                            std::to_string(finished.exit_status) +
                            (prevented.empty() ? what_was_not_there(options) : prevented);
    std::vector<std::string> notes = notes_of_end(finished);
    if (!conversion.any_has_rows()) {
        notes.insert(notes.end(), conversion.notes().begin(), conversion.notes().end());
        return without_trace(std::move(notes), why, !prevented.empty());
    }
    trace_header header;
    header.notes = std::move(notes);
    header.command = options.command;
    header.exit_status = finished.exit_status;
    header.user_time = finished.user_time;
    header.system_time = finished.system_time;
    if (!conversion.has_rows()) header.notes.push_back("There is no trace of the program itself: " + why + ".");
    return conversion.convert_all(header, finished.end, finished.converted.get());
}

/// Bounds the logs by what is free on the disk of `directory`, unless the user gave a limit.
record_options bounded(record_options options, const fs::path& directory) {
    if (options.limit_bytes) return options;
    std::error_code error;
    const fs::space_info space = fs::space(directory, error);
    const std::uint64_t room = error ? default_limit_bytes : space.available / 2;
    options.limit_is_disk_share = room < default_limit_bytes;
    options.limit_bytes = std::clamp(room, min_limit_bytes, default_limit_bytes);
    return options;
}

/// Runs the program to its end and completes the raw logs.
ended_recording run_to_the_end(const record_options& options, const recordable_program& program,
                               const fs::path& recorder, const fs::path& directory) {
    const record_options limited = bounded(options, directory);
    recording_memory memory{*limited.limit_bytes};
    ended_recording ended;
    ended.directory = directory;
    ended.program = run_recorded(limited, program, recorder, directory, memory);
    memory.end();
    ended.lost_logs = memory.write_waiting(directory);
    ended.reports = memory.reports(directory);
    return ended;
}

record_result finish_directory_or_file(const fs::path& raw, const fs::path& output, const progress_function& progress) {
    trace_header header;
    header.exit_status = trace_header::unknown_status;
    header.notes.emplace_back("The recording was cut off; the program's exit status and CPU time are not known.");
    std::error_code error;
    if (fs::is_directory(raw, error)) {
        directory_conversion conversion{raw, output, progress};
        conversion.explain({reports_in(raw)});
        record_result result = conversion.convert_all(header, {});
        if (result.traces.empty())
            throw tool_error{"'" + raw.string() +
                             "' holds no raw log with any allocation: name the folder TRACE.raw-XXXXXX that 'acre "
                             "record' left behind"};
        return result;
    }
    const raw_reader log{raw};
    if (log.row_count() == 0) throw tool_error{"'" + raw.string() + "' holds no recorded allocation"};
    header.recording_time = recording_microseconds(log, log.last_clock());
    symbol_sources symbols;
    const conversion made = convert(log, symbols, header, log.last_clock(), output, progress);
    return {0, made.events, made.unmatched_frees, 0, {output}, made.notes, {}, false};
}

/// Serialised for another process. CBOR keeps file names that are not UTF-8 as they are.
std::string packed(const record_result& result) {
    std::vector<std::string> traces;
    traces.reserve(result.traces.size());
    for (const fs::path& each : result.traces) traces.push_back(each.string());
    std::string bytes;
    nlohmann::json::to_cbor(nlohmann::json{result.events, result.unmatched_frees, result.converted_early, traces,
                                           result.notes, result.why_nothing, result.is_failure},
                            bytes);
    return bytes;
}

record_result unpacked(const std::string& bytes) {
    const nlohmann::json fields = nlohmann::json::from_cbor(bytes);
    const auto traces = fields[3].get<std::vector<std::string>>();
    return {0,
            fields[0],
            fields[1],
            fields[2],
            {traces.begin(), traces.end()},
            fields[4].get<std::vector<std::string>>(),
            fields[5],
            fields[6]};
}

/// In a child process, because libdw aborts when memory runs out.
record_result convert_apart(const std::function<record_result(const progress_function&)>& convert,
                            const progress_function& progress) {
    return unpacked(run_apart([&](const progress_function& tell) { return packed(convert(tell)); }, progress));
}

}  // namespace

record_result record(const record_options& options) {
    if (options.command.empty()) throw tool_error{"cannot record: no program is named"};
    const recordable_program program = find_recordable_program(options.command.front());
    check_output_of(program, options.output);
    check_open_files();
    const preloadable_library recorder{
        "record", options.recorder.empty() ? library_beside_command("libacre-record.so") : options.recorder};
    temporary_directory raw{fs::absolute(options.output).string() + ".raw-", "name a shorter one with -o"};
    const ended_recording ended = run_to_the_end(options, program, recorder.path(), raw.path());
    record_result result;
    try {
        result = convert_apart(
            [&](const progress_function& progress) { return convert_recording(options, ended, progress); },
            options.progress);
    } catch (const tool_error& error) {
        const std::string kept = raw.path().string();
        raw.keep();
        throw tool_error{std::string{error.what()} + "; the recording is in '" + kept +
                         "': make a trace of it with 'acre finish'"};
    }
    if (result.is_failure) throw tool_error{result.why_nothing};
    result.exit_status = ended.program.exit_status;
    return result;
}

record_result finish_raw_log(const fs::path& raw, const fs::path& output, const std::function<void(double)>& progress) {
    check_output(output);
    return convert_apart([&](const progress_function& tell) { return finish_directory_or_file(raw, output, tell); },
                         progress);
}

}  // namespace acre::tool
