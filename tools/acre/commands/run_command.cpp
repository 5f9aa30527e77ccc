#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "command.hpp"
#include "programs/preloadable_library.hpp"
#include "programs/program.hpp"
#include "trace/error.hpp"
#include "try/ways.hpp"

namespace acre::tool {

namespace {

/// Becomes the program, so returns only by an exception.
int run(const command_context& context) {
    if (context.rest.empty()) throw usage_error{"a program to run, after --, is required"};
    const std::filesystem::path program = find_program_to_preload(context.rest.front(), "run");
    const preloadable_library library{"run", library_beside_command(run_library)};
    ::setenv("LD_PRELOAD", preload_value(library.path()).c_str(), 1);
    std::vector<char*> arguments;
    arguments.reserve(context.rest.size() + 1);
    for (const std::string& each : context.rest) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    throw tool_error{"cannot run '" + program.string() + "': " + reason_of(errno)};
}

}  // namespace

void add_run_command(command_line& line, const command_context& context) {
    subcommand command{line, "run",
                       "Runs a program (after --), and those that it starts, on acre's heap instead of malloc's"};
    command.footer(
        "Example:\n"
        "  acre run -- ./app input.txt\n\n"
        "Exit status: the program's own, or 1 when it could not be started.");
    command.runs([&] { return run(context); });
}

}  // namespace acre::tool
