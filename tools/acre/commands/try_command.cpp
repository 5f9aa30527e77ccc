#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "programs/program.hpp"
#include "trace/error.hpp"
#include "try/contest.hpp"
#include "try/try_report.hpp"
#include "try/ways.hpp"

namespace acre::tool {

namespace {

struct try_options {
    std::string trace;
    std::vector<std::string> with;
    std::string plan;
    std::string budget = "60s";
    std::string input;
    std::string check;
    bool unchecked = false;
    bool json = false;
};

/// A time in seconds: digits and s, m or h; nothing if the text is not one.
std::optional<double> parse_seconds(std::string_view text) {
    double factor = 1;
    if (text.ends_with('m')) factor = 60;
    if (text.ends_with('h')) factor = 3600;
    if (text.ends_with('s') || factor != 1) text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e6) return std::nullopt;
    return value * factor;
}

std::string check_budget(const std::string& text) {
    if (parse_seconds(text)) return {};
    return "'" + text + "' is not a time: write digits, and s, m or h, as in 90s or 5m";
}

/// The program to try with its arguments: what follows "--", or what the trace recorded.
std::vector<std::string> command_of(const try_options& options, const command_context& context) {
    if (!options.trace.empty() && !context.rest.empty())
        throw usage_error{"either a trace or a program after -- is wanted, not both"};
    if (!context.rest.empty()) return context.rest;
    if (options.trace.empty()) throw usage_error{"a program to try, after --, or a trace is required"};
    std::vector<std::string> command = trace_reader{options.trace}.header().command;
    if (command.empty())
        throw tool_error{"'" + options.trace + "' does not say which program was recorded: name it after --"};
    return command;
}

same_result requirement_of(const try_options& options) {
    if (options.unchecked) return same_result::unchecked;
    return options.check.empty() ? same_result::output_and_status : same_result::checked;
}

int run_try(const try_options& options, const command_context& context) {
    const std::vector<std::string> command = command_of(options, context);
    const std::filesystem::path program = find_program_to_preload(command.front(), "try");
    way_list ways{program, options.with};
    if (!options.plan.empty()) {
        for (const std::string& each : ways.add_plan(program, options.plan)) remark(context, each);
    }
    if (ways.ways().size() == 1) {
        throw tool_error{
            "there is no other malloc here to try: install one (libmimalloc2.0, libjemalloc2, libtcmalloc-minimal4), "
            "or name a library by --with ./library.so"};
    }
    progress_bar bar{"running the program", !context.quiet};
    const contest_result result = run_contest({.program = program,
                                               .arguments = command,
                                               .ways = ways.ways(),
                                               .input = options.input,
                                               .check = options.check,
                                               .required = requirement_of(options),
                                               .budget_seconds = parse_seconds(options.budget).value(),
                                               .progress = [&](double done) { bar.show(done); }});
    clear_progress();
    print(options.json ? text_of(try_json(result, command)) : try_text(result, command));
    return status_success;
}

}  // namespace

void add_try_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<try_options>();
    subcommand command{line, "try",
                       "Runs a program (after --) as it is and with other mallocs, in turns, and compares them"};
    command.trace("FILE", options->trace, "A trace: the program that was recorded is run again, without recording");
    std::vector<described_word> words;
    for (const auto& [name, meaning] : way_names()) words.push_back({name, meaning});
    command
        .list_of("--with", options->with, words,
                 "The mallocs to try, or paths of libraries to preload; without it all that are installed")
        .separated_by_commas();
    command.file("--plan", options->plan, "A plan by 'acre plan', to be tried as well: as 'acre run --plan' runs it");
    command.text("--budget", options->budget, "TIME", "How long it may take, in s, m or h, as in 5m")
        .check(check_budget)
        .shows_default();
    command.file("--stdin", options->input, "The file that each run reads from standard input; without it nothing");
    const option check = command.text("--check", options->check, "COMMAND",
                                      "A shell command that reads the output of each run and accepts it by status 0");
    command.flag("--unchecked", options->unchecked, "Compare neither the outputs nor the exit statuses")
        .excludes(check);
    command.flag("--json", options->json, "Print an object for machines");
    command.footer(
        "The program runs once in each way to compare the results: the same output and the same exit status are\n"
        "required. Then it runs in rounds until each 95 % interval of CPU time is 2 % wide, or the time is over.\n\n"
        "Examples:\n"
        "  acre try -- ./app input.txt\n"
        "  acre try --stdin words.txt --budget 5m -- sort\n"
        "  acre try --with acre,mimalloc,./libmine.so -- ./app input.txt\n"
        "  acre try --check 'grep -q finished' -- ./server --benchmark\n"
        "  acre try --plan app.plan -- ./app input.txt\n"
        "  acre try app.acre");
    command.runs([&, options] { return run_try(*options, context); });
}

}  // namespace acre::tool
