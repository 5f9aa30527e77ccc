#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "plan/handed_plan.hpp"
#include "programs/preloadable_library.hpp"
#include "programs/program.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct run_options {
    std::string plan;
};

/// `acre try` takes such a program: it shows which mallocs the program ends with.
void refuse_what_needs_jemalloc(const std::filesystem::path& program) {
    const std::string function = called_of_jemalloc(program);
    if (function.empty()) return;
    throw tool_error{
        fmt::format("cannot run '{}': it calls {}, a function of jemalloc's own, whose blocks no other malloc can "
                    "take: leave it with "
                    "jemalloc",
                    program.string(), function)};
}

/// Becomes the program, so returns only by an exception.
int run(const run_options& options, const command_context& context) {
    if (context.rest.empty()) throw usage_error{"a program to run, after --, is required"};
    const std::filesystem::path program = find_program_to_preload(context.rest.front(), "run");
    refuse_what_needs_jemalloc(program);
    std::optional<handed_plan> plan;
    if (!options.plan.empty()) {
        plan.emplace(read_plan(options.plan), options.plan, program, handed_plan::part::launched);
        for (const std::string& each : plan->losses()) remark(context, each);
        const auto [name, value] = plan->variable();
        ::setenv(name.c_str(), value.c_str(), 1);
    }
    const preloadable_library library{"run", library_beside_command(plan ? plan->library() : run_library)};
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
    auto options = std::make_shared<run_options>();
    subcommand command{line, "run",
                       "Runs a program (after --), and those that it starts, on acre's heap instead of malloc's"};
    command.file("--plan", options->plan, "A plan by 'acre plan': its sites get memory of their own");
    command.footer(
        "Examples:\n"
        "  acre run -- ./app input.txt\n"
        "  acre run --plan app.plan -- ./app input.txt\n\n"
        "Exit status: the program's own, or 1 when it could not be started; 2 for a wrong command line.");
    command.runs([&, options] { return run(*options, context); });
}

}  // namespace acre::tool
