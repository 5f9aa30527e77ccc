// The command `acre`: parses the command line, runs the subcommand, turns failures into one sentence and an exit status.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.hpp"

namespace {

using namespace acre::tool;

constexpr const char* examples =
    "Examples:\n"
    "  acre record -o app.acre -- ./app --its-own option\n"
    "  acre info app.acre\n"
    "  acre replay app.acre --with pool,arena\n"
    "  acre advise app.acre\n\n"
    "'acre SUBCOMMAND --help' says more, with examples.";

/// Arguments after the first "--" belong to the program to record; the others to acre, last one first as CLI11 wants.
std::vector<std::string> own_arguments(int count, char** arguments, std::vector<std::string>& rest) {
    const std::vector<std::string> all(arguments + 1, arguments + count);
    const auto separator = std::find(all.begin(), all.end(), "--");
    if (separator != all.end()) rest.assign(separator + 1, all.end());
    std::vector<std::string> own(all.begin(), separator);
    std::reverse(own.begin(), own.end());
    return own;
}

bool measures(int count, char** arguments) {
    return std::any_of(arguments, arguments + count, [](const char* argument) {
        return std::string_view{argument} == "replay" || std::string_view{argument} == "advise";
    });
}

int run(int count, char** arguments) {
    // Before anything is allocated, so that what this command allocates does not change what it measures.
    std::optional<replay_host> host;
    if (measures(count, arguments)) host.emplace();

    command_context context;
    context.host = host ? &*host : nullptr;
    command_action action;
    CLI::App app{"Finds out which allocators a real program needs, how large, and what they gain.", "acre"};
    app.set_version_flag("--version", "acre " ACRE_VERSION);
    app.add_flag("-q,--quiet", context.quiet, "No progress bar and no remarks");
    app.require_subcommand(1);
    app.fallthrough();
    app.footer(examples);
    add_record_command(app, context, action);
    add_finish_command(app, context, action);
    add_info_command(app, context, action);
    add_replay_command(app, context, action);
    add_advise_command(app, context, action);
    try {
        app.parse(own_arguments(count, arguments, context.rest));
        return action();
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "acre: {}; see 'acre --help'\n", error.what());
        return status_usage;
    }
}

}  // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "acre: out of memory: close other programs or take a smaller trace\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "acre: {}\n", error.what());
    }
    return status_failure;
}
