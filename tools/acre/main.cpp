// The command `acre`: parses the command line, runs the subcommand, and reports a failure in one sentence and an exit
// status.
#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
#include "commands/help.hpp"
#include "replay/replay_host.hpp"

namespace {

using namespace acre::tool;

constexpr const char* examples =
    "Examples:\n"
    "  acre record -o app.acre -- ./app --its-own option\n"
    "  acre info app.acre\n"
    "  acre diff before.acre after.acre\n"
    "  acre replay app.acre --with pool,arena\n"
    "  acre fit app.acre --for multi_arena\n"
    "  acre advise app.acre\n"
    "  acre report app.acre -o app.html\n\n"
    "'acre SUBCOMMAND --help' gives details and examples.";

/// Opens standard streams that the caller has closed, read-only. Otherwise a file opened later would get such a number
/// and receive messages. A recorded program still finds them closed.
void occupy_closed_streams() {
    int file = 0;
    while ((file = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && file <= STDERR_FILENO) {
    }
    if (file >= 0) ::close(file);
}

/// Makes a write beyond the file size limit fail with an error, which every command reports, instead of ending this
/// process. By a handler, because a recorded program would inherit that the signal is ignored.
void survive_file_size_limit() {
    struct sigaction action{};
    ::sigaction(SIGXFSZ, nullptr, &action);
    if (action.sa_handler == SIG_IGN) return;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGXFSZ, &action, nullptr);
}

/// The named subcommand, or empty.
std::string_view subcommand_of(int count, char** arguments) {
    char** const end = arguments + count;
    char** const word = std::find_if(arguments + 1, end, [](const char* each) { return *each != '-'; });
    return word < end ? *word : "";
}

/// The arguments for acre itself, in reverse order for CLI11. What follows the first "--" goes to `rest`: the program
/// to run, or a shell's words.
std::vector<std::string> own_arguments(int count, char** arguments, std::vector<std::string>& rest) {
    const std::vector<std::string> all(arguments + 1, arguments + count);
    const std::string_view subcommand = subcommand_of(count, arguments);
    const bool has_rest = runs_a_program(subcommand) || subcommand == "complete";
    const auto separator = has_rest ? std::find(all.begin(), all.end(), "--") : all.end();
    if (separator != all.end()) rest.assign(separator + 1, all.end());
    std::vector<std::string> own(all.begin(), separator);
    std::reverse(own.begin(), own.end());
    return own;
}

/// Whether the command will measure, as far as the raw arguments show; must not allocate.
bool measures(int count, char** arguments) {
    constexpr std::array<std::string_view, 3> measuring{"replay", "advise", "report"};
    constexpr std::array<std::string_view, 4> prevents{"--no-measure", "--list", "--help", "-h"};
    if (std::ranges::find(measuring, subcommand_of(count, arguments)) == measuring.end()) return false;
    char** const end = std::find(arguments + 1, arguments + count, std::string_view{"--"});
    return std::find_first_of(arguments + 1, end, prevents.begin(), prevents.end()) == end;
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
    if (unknown.empty()) return what_is_wrong(error);
    const std::string& word = unknown.front();
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) {
        if (word.starts_with('-')) return fmt::format("there is no option '{}'", word);
        const auto commands = names_of(shown_subcommands(app));
        return fmt::format("there is no subcommand '{}': there are {}", word, fmt::join(commands, ", "));
    }
    const std::string& name = chosen.front()->get_name();
    if (runs_a_program(name)) {
        return fmt::format("'{}' is not an option of {}: the program to record comes after --", word, name);
    }
    return word.starts_with('-') ? fmt::format("{} has no option '{}'", name, word)
                                 : fmt::format("'{}' is one argument too many for {}", word, name);
}

int report_usage(const CLI::App& app, const std::string& mistake) {
    std::string command = "acre";
    for (const CLI::App* each : app.get_subcommands()) command += " " + each->get_name();
    tell(fmt::format("{}; see '{} --help'", mistake, command));
    return status_usage;
}

int run(int count, char** arguments) {
    // Forks before the first allocation, so that this command's own heap does not affect the measurements.
    std::optional<replay_host> host;
    if (measures(count, arguments)) host.emplace();

    command_context context;
    context.host = [&]() -> replay_host& { return host ? *host : host.emplace(); };
    CLI::App app{"Finds out which allocators a program needs, how large, and what they gain.", "acre"};
    app.set_version_flag("--version", "acre " ACRE_VERSION);
    app.add_flag("-q,--quiet", context.quiet, "No progress bar and no remarks");
    command_line line{app};
    app.formatter(std::make_shared<help_format>(line.rules));
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(examples);
    add_record_command(line, context);
    add_finish_command(line, context);
    add_info_command(line, context);
    add_diff_command(line, context);
    add_replay_command(line, context);
    add_fit_command(line, context);
    add_advise_command(line, context);
    add_report_command(line, context);
    add_export_command(line, context);
    add_complete_command(line, context);
    add_man_command(line, context);
    try {
        app.parse(own_arguments(count, arguments, context.rest));
        return line.action();
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) return report_usage(app, what_is_wrong(app, error));
        std::ostringstream text;
        app.exit(error, text, text);
        print(text.str());
        return status_success;
    } catch (const usage_error& error) {
        return report_usage(app, error.what());
    }
}

}  // namespace

int main(int count, char** arguments) {
    occupy_closed_streams();
    survive_file_size_limit();
    try {
        return run(count, arguments);
    } catch (const std::bad_alloc&) {
        tell("out of memory: close other programs or take a smaller trace");
    } catch (const std::exception& error) {
        tell(error.what());
    }
    return status_failure;
}
