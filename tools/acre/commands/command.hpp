// What the subcommands of `acre` have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "option_values.hpp"
#include "replay/replay_host.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// Exit statuses; `acre record` that succeeds gives the program's own.
inline constexpr int status_success = 0;
inline constexpr int status_failure = 1;
inline constexpr int status_usage = 2;
inline constexpr int status_incomplete = 3;  // the trace was cut off; what is whole was used

/// The most entries of a list that can be asked for.
inline constexpr std::int64_t max_shown = 1'000'000;

/// The methods that --stacks names, in the order of stack_method.
inline const std::vector<std::string> stack_methods{"trie", "fp", "caller"};

/// What a subcommand's code is given besides its own options.
struct command_context {
    bool quiet = false;                  // no progress bar, no remarks
    std::function<replay_host&()> host;  // where what is measured is played
    std::vector<std::string> rest;       // of the command line, after "--"
    option_values values;                // that the options take
};

/// The code of the subcommand that was chosen: its exit status.
using command_action = std::function<int()>;

void add_record_command(CLI::App& app, command_context& context, command_action& action);
void add_finish_command(CLI::App& app, command_context& context, command_action& action);
void add_info_command(CLI::App& app, command_context& context, command_action& action);
void add_diff_command(CLI::App& app, command_context& context, command_action& action);
void add_replay_command(CLI::App& app, command_context& context, command_action& action);
void add_fit_command(CLI::App& app, command_context& context, command_action& action);
void add_advise_command(CLI::App& app, command_context& context, command_action& action);
void add_export_command(CLI::App& app, command_context& context, command_action& action);
void add_report_command(CLI::App& app, command_context& context, command_action& action);
void add_complete_command(CLI::App& app, command_context& context, command_action& action);
void add_man_command(CLI::App& app, command_context& context, command_action& action);

/// Whether what stands after "--" is a program to run, and its arguments.
inline bool runs_a_program(std::string_view subcommand) {
    return subcommand == "record";
}

/// Those that people use; others are there for shells.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// Options of `acre` that may also stand behind a subcommand.
std::vector<const CLI::Option*> common_options(const CLI::App& app);

/// Says what a cut-off trace lacks, on standard error; the exit status that goes with it.
int report_missing(const trace_reader& reader);

/// Throws tool_error when a file to write, named with the option, is the one that it is made from.
void keep_from_replacing(const std::string& source, const std::string& output, std::string_view option);

/// Prints on standard output; throws tool_error when that cannot be written.
void print(std::string_view text);

/// JSON as the commands print it; bytes that are not UTF-8 are replaced.
std::string text_of(const nlohmann::json& object);

/// A sentence on standard error, in one line whatever the names in it are; lost when that cannot be written, for there
/// is nowhere else to say it.
void tell(const std::string& sentence);

/// A remark for the user on standard error, unless --quiet.
void remark(const command_context& context, const std::string& sentence);

}  // namespace acre::tool
