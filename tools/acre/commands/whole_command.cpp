#include "whole_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "help.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  acre ./app --its-own option            records it, and says what to change first\n"
    "  acre record -o app.acre -- ./app --its-own option\n"
    "  acre advise app.acre\n"
    "  acre try -- ./app --its-own option\n\n"
    "'acre SUBCOMMAND --help' gives details and examples. 'acre help --all' lists more subcommands.";

/// Whether the word names a program: a path, or a file of a folder in PATH.
bool is_program(const std::string& word) {
    const auto runs = [](const std::filesystem::path& file) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
    };
    if (word.find('/') != std::string::npos) return runs(word);
    std::istringstream folders{std::getenv("PATH") == nullptr ? "" : std::getenv("PATH")};
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && runs(std::filesystem::path{folder} / word)) return true;
    }
    return false;
}

/// `acre ./app` means `acre advise -- ./app`. By a new process, as measuring begins before this one allocates.
int advise_program(const std::vector<std::string>& words) {
    std::vector<std::string> all{"acre", "advise", "--"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    arguments.reserve(all.size() + 1);
    for (std::string& each : all) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    ::execv("/proc/self/exe", arguments.data());
    throw tool_error{std::string{"the command cannot start itself: "} + std::strerror(errno)};
}

/// The arguments for acre itself, in reverse order for CLI11. What follows the first "--" goes to `rest`: the program
/// to run, or a shell's words.
std::vector<std::string> own_arguments(const std::vector<std::string>& words, std::vector<std::string>& rest) {
    const std::string_view subcommand = subcommand_of(words);
    const bool has_rest = runs_a_program(subcommand) || subcommand == "complete";
    const auto separator = has_rest ? std::find(words.begin(), words.end(), "--") : words.end();
    if (separator != words.end()) rest.assign(separator + 1, words.end());
    std::vector<std::string> own(words.begin(), separator);
    std::reverse(own.begin(), own.end());
    return own;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const CLI::App* each : commands) names.push_back(each->get_name());
    return names;
}

/// Of an option without its value, CLI11 says "--table: 1 required events|sites|stacks missing".
std::string what_is_wrong(const CLI::ParseError& error) {
    std::string text = error.what();
    const std::size_t option_end = text.find(": 1 required ");
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr || option_end == std::string::npos) return text;
    const std::size_t value = option_end + std::string_view{": 1 required "}.size();
    return fmt::format("{} needs a value: {}", text.substr(0, option_end),
                       text.substr(value, text.rfind(" missing") - value));
}

/// CLI11's messages do not name an unknown subcommand and do not mention "--".
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining(true);
    const auto chosen = app.get_subcommands();
    const auto commands = names_of(shown_subcommands(app));
    if (unknown.empty()) {
        const bool none_named = chosen.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
        return none_named ? fmt::format("name a subcommand: {}", fmt::join(commands, ", ")) : what_is_wrong(error);
    }
    const std::string& word = unknown.front();
    if (chosen.empty()) {
        if (word.starts_with('-')) return fmt::format("there is no option '{}'", word);
        return fmt::format("there is no subcommand '{}': there are {}", word, fmt::join(commands, ", "));
    }
    const std::string& name = chosen.front()->get_name();
    if (runs_a_program(name)) {
        return fmt::format("'{}' is not an option of {}: the program comes after --", word, name);
    }
    return word.starts_with('-') ? fmt::format("{} has no option '{}'", name, word)
                                 : fmt::format("'{}' is one argument too many for {}", word, name);
}

}  // namespace

struct whole_command::parts {
    CLI::App app{"Finds out which allocators a program needs, how large, and what they gain.", "acre"};
    command_line line{app};
};

whole_command::whole_command(command_context& context) : context_{context}, parts_{std::make_unique<parts>()} {
    CLI::App& app = parts_->app;
    command_line& line = parts_->line;
    app.set_version_flag("--version", "acre " ACRE_VERSION);
    app.add_flag("-q,--quiet", context.quiet, "No progress bar and no remarks");
    app.formatter(std::make_shared<help_format>(line.rules));
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(examples);
    add_record_command(line, context);
    add_finish_command(line, context);
    add_try_command(line, context);
    add_run_command(line, context);
    add_info_command(line, context);
    add_diff_command(line, context);
    add_replay_command(line, context);
    add_fit_command(line, context);
    add_advise_command(line, context);
    add_plan_command(line, context);
    add_report_command(line, context);
    add_export_command(line, context);
    add_complete_command(line, context);
    add_man_command(line, context);
    add_help_command(line, context);
}

whole_command::~whole_command() = default;

std::function<int()> whole_command::action_of(const std::vector<std::string>& words) {
    CLI::App& app = parts_->app;
    const auto is_named = [&](const CLI::App* each) { return each->get_name() == words.front(); };
    const bool names_command =
        words.empty() || words.front().starts_with('-') || !std::as_const(app).get_subcommands(is_named).empty();
    if (!names_command && words.front().find('/') != std::string::npos && !is_program(words.front()))
        throw usage_error{"there is no program '" + words.front() + "' that can run"};
    if (!names_command && is_program(words.front())) return [words] { return advise_program(words); };
    try {
        app.parse(own_arguments(words, context_.rest));
        return parts_->line.action;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) throw usage_error{what_is_wrong(app, error)};
        std::ostringstream text;
        app.exit(error, text, text);
        return [asked = text.str()] {
            print(asked);
            return status_success;
        };
    }
}

const command_line& whole_command::line() const {
    return parts_->line;
}

std::string whole_command::sentence_about(const std::string& mistake) const {
    std::string command = "acre";
    for (const CLI::App* each : parts_->app.get_subcommands()) command += " " + each->get_name();
    return fmt::format("{}; see '{} --help'", mistake, command);
}

}  // namespace acre::tool
