#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "plan/plan_making.hpp"
#include "programs/program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"
#include "try/contest.hpp"
#include "try/recorded_program.hpp"
#include "try/try_page.hpp"
#include "try/try_report.hpp"
#include "try/ways.hpp"

namespace acre::tool {

namespace {

struct try_options {
    std::string trace;
    std::vector<std::string> with;
    std::string plan;
    bool sites = false;
    std::string report;
    std::string budget = "60s";
    std::optional<double> width{};  // percent
    std::string input;
    std::string check;
    bool unchecked = false;
    bool json = false;
};

/// The program to try with its arguments: what follows "--", or what the trace recorded.
std::vector<std::string> command_of(const try_options& options, const command_context& context) {
    if (!options.trace.empty() && !context.rest.empty())
        throw usage_error{"either a trace or a program after -- is wanted, not both"};
    if (!context.rest.empty()) return context.rest;
    if (options.trace.empty()) throw usage_error{"a program to try, after --, or a trace is required"};
    std::vector<std::string> command = trace_reader{options.trace}.header().command;
    if (command.empty())
        throw tool_error{"'" + options.trace +
                         "' does not say which program was recorded: give the program itself, acre try -- PROGRAM"};
    return command;
}

/// A sentence about options that do not go together.
void check_together(const try_options& options) {
    if (options.sites && options.plan.empty() && options.trace.empty())
        throw usage_error{"--sites measures the groups of a plan: name one by --plan, or a trace to make it of"};
}

/// The CPU time of the recorded run, without the recorder's own; 0: not known.
std::uint64_t recorded_cpu_of(const try_options& options) {
    if (options.trace.empty()) return 0;
    const trace_reader reader{options.trace};
    return reader.header().end_is_known() ? reader.header().program_microseconds() * 1000 : 0;
}

struct chosen_plan {
    site_plan plan;
    std::string name;             // of its file
    int status = status_success;  // status_incomplete: of a trace that was cut off
};

/// The plan to try; nothing if there is none.
std::optional<chosen_plan> plan_of(const try_options& options, const command_context& context) {
    if (!options.plan.empty()) return chosen_plan{read_plan(options.plan), options.plan};
    if (options.trace.empty() || (!options.sites && !options.with.empty())) return {};
    trace_reader reader{options.trace};
    const call_paths paths{reader.tables()};
    try {
        const reading_progress bar{"planning", reader, context};
        site_plan plan = make_plan(reader, paths, plan_choice::advice).plan;
        if (groups_of(plan).empty())
            throw tool_error{"the advice for '" + options.trace + "' has no site that a plan can serve"};
        return chosen_plan{std::move(plan), std::filesystem::path{options.trace}.replace_extension(".plan").string(),
                           report_missing(reader)};
    } catch (const tool_error&) {
        if (options.sites) throw;
        return {};  // the mallocs can be tried without it
    }
}

/// Adds the ways with a plan. Returns notes for the report.
std::vector<std::string> add_plans(way_list& ways, const std::filesystem::path& program, const try_options& options,
                                   const std::optional<chosen_plan>& plan, const command_context& context) {
    if (!plan) return {};
    try {
        for (const std::string& each : ways.add_plan(program, plan->plan, plan->name)) remark(context, each);
    } catch (const plan_of_another_program&) {
        if (!options.plan.empty()) throw;
        if (options.sites) throw recording_of_another_program(options.trace, program);
        const tool_error error = recording_of_another_program(options.trace, program);
        return {std::string{"It ran without a plan: "} + error.what() + "."};
    }
    std::vector<std::string> notes;
    if (options.plan.empty())
        notes.push_back("The plan is that of: acre plan " + quoted_for_shell(options.trace) + " -o " +
                        quoted_for_shell(plan->name));
    if (!options.sites) return notes;
    if (groups_of(plan->plan).empty())
        notes.emplace_back("The plan leaves every site to malloc, so there is no group to measure alone.");
    if (const std::size_t left_out = ways.add_groups(program, plan->plan, plan->name)) {
        notes.push_back(fmt::format("{} with fewer allocations {} not measured alone.",
                                    plural(left_out, "group", "groups"), left_out == 1 ? "is" : "are"));
    }
    return notes;
}

int run_try(const try_options& options, const command_context& context) {
    const std::vector<std::string> command = command_of(options, context);
    check_together(options);
    const std::filesystem::path program =
        options.trace.empty() ? find_program_to_preload(command.front(), "try") : recorded_program(command, "try");
    if (!options.report.empty() && !options.trace.empty())
        keep_from_replacing(options.trace, options.report, "--report");
    // With --sites the question is what each group brings: the other mallocs only where they are named.
    const bool only_acre = options.sites && options.with.empty();
    way_list ways{program, only_acre ? std::vector<std::string>{std::string{acre_way}} : options.with};
    const std::optional<chosen_plan> plan = plan_of(options, context);
    const std::vector<std::string> notes = add_plans(ways, program, options, plan, context);
    if (ways.ways().size() == 1) {
        throw tool_error{
            "there is no other malloc here to try: install one (libmimalloc2.0, libjemalloc2, libtcmalloc-minimal4), "
            "or name a library by --with ./library.so"};
    }
    std::optional<replacing_file> page;  // opened before the program runs: nothing that was measured is lost
    if (!options.report.empty()) page.emplace(options.report);
    progress_bar bar{"running the program", !context.quiet};
    contest_result result = run_contest({.program = program,
                                         .arguments = command,
                                         .ways = ways.ways(),
                                         .input = options.input,
                                         .check = options.check,
                                         .required = required_result(options.check, options.unchecked),
                                         .recorded_cpu_nanoseconds = recorded_cpu_of(options),
                                         .budget_seconds = parse_seconds(options.budget).value(),
                                         .precision = options.width.value_or(2) / 100,
                                         .progress = [&](double done) { bar.show(done); }});
    clear_progress();
    result.notes = notes;
    print(options.json ? text_of(try_json(result, command)) : try_text(result, command));
    if (page) {
        page->write(try_page(result, command));
        page->finish();
        remark(context, "wrote '" + options.report + "': open it in a browser");
    }
    if (!has_comparison(result)) return status_failure;
    return plan ? plan->status : status_success;
}

}  // namespace

void add_try_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<try_options>();
    subcommand command{line, "try",
                       "Runs a program (after --) as it is and with other mallocs, in turns, and compares them"};
    command.trace("FILE", options->trace, "A trace: the program that was recorded is run again, without recording");
    std::vector<described_word> words;
    for (const auto& [name, meaning] : way_names()) words.push_back({name, meaning});
    command.list_of("--with", options->with, words, "The mallocs to try, or paths of libraries to preload")
        .default_is("all that are installed")
        .separated_by_commas();
    command.file("--plan", options->plan, "A plan by 'acre plan', to be tried as well: as 'acre run --plan' runs it");
    command.flag("--sites", options->sites,
                 "Also measure each of the plan's largest groups of sites alone; with a trace the plan is made of it");
    command.file("--report", options->report, "Also write the figures and a picture of them as an HTML page");
    command
        .text("--budget", options->budget, "TIME",
              "How long it may take, in s, m or h, as in 5m; each way runs at least once, however long that takes")
        .check(refusal_of_time)
        .shows_default();
    command
        .decimal(
            "--width", options->width, "PERCENT", 0.01, 100,
            "How wide each 95 % interval of CPU time may be when the rounds end, in percent of the CPU time of the "
            "program as it is")
        .default_is("2");
    command.file("--stdin", options->input, "The file that each run reads from standard input").default_is("/dev/null");
    const option check = command.text("--check", options->check, "COMMAND",
                                      "A shell command that reads the output of each run and accepts it by status 0");
    command.flag("--unchecked", options->unchecked, "Compare neither the outputs nor the exit statuses")
        .excludes(check);
    command.flag("--json", options->json, "Print an object for machines; docs/try.md names its keys");
    command.footer(
        "The program runs once in each way to compare the results: the same output and the same exit status are\n"
        "required. Then it runs in rounds until each 95 % interval of CPU time is as narrow as --width says, or the\n"
        "time is over.\n\n"
        "Examples:\n"
        "  acre try -- ./app input.txt\n"
        "  acre try --stdin words.txt --budget 5m --width 0.5 -- sort\n"
        "  acre try --with acre,mimalloc,./libmine.so -- ./app input.txt\n"
        "  acre try --check 'grep -q finished' -- ./server --benchmark\n"
        "  acre try --plan app.plan -- ./app input.txt\n"
        "  acre try app.acre\n"
        "  acre try --sites --report app.html app.acre\n\n"
        "Exit status 1: nothing could be compared with the program as it is; 3: the trace was cut off, and the plan "
        "is\n"
        "about its complete part.");
    command.runs([&, options] { return run_try(*options, context); });
}

}  // namespace acre::tool
