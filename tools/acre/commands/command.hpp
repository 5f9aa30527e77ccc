// What the subcommands of `acre` share.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options.hpp"
#include "text/terminal.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

class replay_host;

/// Exit statuses; `acre record` and `acre run` that succeed return the program's own.
inline constexpr int status_success = 0;
inline constexpr int status_failure = 1;
inline constexpr int status_usage = 2;
inline constexpr int status_incomplete = 3;  // the trace was cut off; the command used its complete part

/// The largest number of entries that --top accepts.
inline constexpr std::int64_t max_shown = 1'000'000;

/// The methods that --stacks names, in the order of stack_method.
inline const std::vector<std::string> stack_methods{"unwind", "fp", "caller"};

/// What a subcommand's code gets besides its own options.
struct command_context {
    bool quiet = false;                  // no progress bar, no remarks
    std::function<replay_host&()> host;  // the process that measurements run in
    std::vector<std::string> rest;       // the words after "--"
};

void add_record_command(command_line& line, const command_context& context);
void add_finish_command(command_line& line, const command_context& context);
void add_try_command(command_line& line, const command_context& context);
void add_run_command(command_line& line, const command_context& context);
void add_info_command(command_line& line, const command_context& context);
void add_diff_command(command_line& line, const command_context& context);
void add_replay_command(command_line& line, const command_context& context);
void add_fit_command(command_line& line, const command_context& context);
void add_advise_command(command_line& line, const command_context& context);
void add_plan_command(command_line& line, const command_context& context);
void add_export_command(command_line& line, const command_context& context);
void add_report_command(command_line& line, const command_context& context);
void add_complete_command(command_line& line, const command_context& context);
void add_help_command(command_line& line, const command_context& context);
void add_man_command(command_line& line, const command_context& context);

/// The answer to a shell for the words behind "acre"; the last word is incomplete and may be empty. The first line says
/// what can replace the last word:
///     words      one of the words that follow
///     list       the same, and the list may go on after a comma
///     trace      the name of a file, preferably of a trace
///     file       the name of a file
///     program    the program to record, or an argument of it
/// The words follow, one a line: word, tabulator, meaning. The shell selects those that fit the last word.
std::string completion_text(const command_line& line, const std::vector<std::string>& words);

/// Whether the subcommand takes a program to run, with its arguments, after "--".
inline bool runs_a_program(std::string_view subcommand) {
    return subcommand == "record" || subcommand == "run" || subcommand == "try" || subcommand == "advise";
}

/// Reports on standard error what a cut-off trace lacks. Returns the exit status for it, or success.
int report_missing(const trace_reader& reader);

/// Records the program after "--", and returns the name of its trace: PROGRAM.acre.
std::string record_program(const command_context& context);

/// Throws tool_error when the file to write, which `option` names, is the input.
void keep_from_replacing(const std::string& source, const std::string& output, std::string_view option);

/// Why a text is no time, as `parse_seconds` reads one; empty: it is one.
std::string refusal_of_time(const std::string& text);

/// Prints to standard output; throws tool_error when that fails.
void print(std::string_view text);

/// JSON in the form that the commands print: safe for a terminal, and without bytes that are not UTF-8.
std::string text_of(const nlohmann::json& object);

/// Prints a sentence to standard error, in one line of its own.
void tell(const std::string& sentence);

/// As tell(), unless --quiet was given.
void remark(const command_context& context, const std::string& sentence);

/// Says that a program used another malloc than glibc's, with which the commands compare.
void remark_allocator(const command_context& context, const trace_header& header);

/// A progress bar that follows a reader of a trace while it exists.
class reading_progress {
public:
    reading_progress(std::string label, trace_reader& reader, const command_context& context)
        : reading_progress{std::move(label), reader, !context.quiet} {}
    reading_progress(std::string label, trace_reader& reader, bool wanted)
        : reader_{reader}, bar_{std::move(label), wanted} {
        reader_.on_progress([this](double done) { show(done); });
    }
    ~reading_progress() { reader_.on_progress({}); }
    reading_progress(const reading_progress&) = delete;
    reading_progress& operator=(const reading_progress&) = delete;

    void show(double done) { bar_.show(done); }

private:
    trace_reader& reader_;
    progress_bar bar_;
};

}  // namespace acre::tool
