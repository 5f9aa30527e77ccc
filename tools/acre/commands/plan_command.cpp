#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "advise/measure.hpp"
#include "command.hpp"
#include "plan/plan_making.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"
#include "try/measured_plan.hpp"

namespace acre::tool {

namespace {

struct plan_options {
    std::string file;
    std::string output;
    plan_choice choice = plan_choice::advice;
    bool leaves_to_malloc_below = false;
    bool measures = false;
    std::string budget = "60s";
    std::string input;
    std::string check;
    bool unchecked = false;
};

const std::map<std::string, plan_choice>& choices() {
    static const std::map<std::string, plan_choice> known(plan_choices.begin(), plan_choices.end());
    return known;
}

const std::map<std::string, bool>& malloc_choices() {
    static const std::map<std::string, bool> known{{"acre", false}, {"below", true}};
    return known;
}

void write_plan(const site_plan& plan, const std::string& output) {
    const std::string text = plan_text(plan);
    if (output.empty()) return print(text);
    write_file(output, text);
}

std::string plan_name(const plan_options& options) {
    return options.output.empty() ? std::filesystem::path{options.file}.replace_extension(".plan").string()
                                  : options.output;
}

void measure(made_plan& made, const plan_options& options, std::uint64_t cpu_nanoseconds,
             const command_context& context) {
    progress_bar bar{"running the program", !context.quiet};
    const auto losses = keep_what_saves(made.plan, {.name = plan_name(options),
                                                    .trace = options.file,
                                                    .allocations = made.allocations,
                                                    .recorded_cpu_nanoseconds = cpu_nanoseconds,
                                                    .seconds = parse_seconds(options.budget).value(),
                                                    .input = options.input,
                                                    .check = options.check,
                                                    .required = required_result(options.check, options.unchecked),
                                                    .progress = [&](double done) { bar.show(done); }});
    clear_progress();
    for (const std::string& each : losses) remark(context, each);
}

/// What runs showed; on standard error where the plan itself goes to standard output.
void tell_findings(const plan_measurement& found, const plan_options& options, const command_context& context) {
    const std::string text = measured_text(found);
    if (!options.output.empty()) return print(text);
    if (!context.quiet) std::fputs(text.c_str(), stderr);
}

void remark_sites(const made_plan& made, const command_context& context) {
    std::size_t routed = 0;
    std::uint64_t allocations = 0;
    for (const planned_site& each : made.plan.sites) {
        if (!made.plan.routes(each)) continue;
        ++routed;
        allocations += each.allocations;
    }
    remark(context, fmt::format("{} of {} are planned, with {} of the allocations", count_text(routed),
                                plural(made.plan.sites.size(), "site", "sites"),
                                percent_text(static_cast<double>(allocations) /
                                             static_cast<double>(std::max<std::uint64_t>(made.allocations, 1)))));
    if (made.without_build_id != 0) {
        remark(context, fmt::format("{} are in files without a build id, by which a plan knows them: link with "
                                    "-Wl,--build-id",
                                    plural(made.without_build_id, "allocation", "allocations")));
    }
}

/// What a plan has no room for.
void remark_beyond(const made_plan& made, const command_context& context) {
    if (made.files_beyond != 0) {
        remark(context,
               fmt::format("{} left out, with {}: a plan names at most {}, those with most planned allocations",
                           plural(made.files_beyond, "file is", "files are"),
                           plural(made.allocations_in_files_beyond, "allocation", "allocations"),
                           count_text(site_plan::max_modules)));
    }
    if (made.sites_beyond != 0) {
        remark(context, fmt::format("{} left out, with {}: a plan has at most {}, those with most allocations",
                                    plural(made.sites_beyond, "site is", "sites are"),
                                    plural(made.allocations_of_sites_beyond, "allocation", "allocations"),
                                    count_text(site_plan::max_sites)));
    }
}

int run_plan(plan_options options, const command_context& context) {
    if (options.output == "-") options.output.clear();
    trace_reader reader{options.file};
    if (!options.output.empty()) keep_from_replacing(options.file, options.output, "-o");
    const call_paths paths{reader.tables()};
    made_plan made = [&] {
        const reading_progress bar{"reading", reader, context};
        return make_plan(reader, paths, options.choice, options.leaves_to_malloc_below);
    }();
    clear_progress();
    if (options.measures) measure(made, options, recorded_cpu_nanoseconds(reader), context);
    write_plan(made.plan, options.output);
    if (made.plan.measured) tell_findings(*made.plan.measured, options, context);
    remark_sites(made, context);
    remark_beyond(made, context);
    return report_missing(reader);
}

}  // namespace

void add_plan_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<plan_options>();
    subcommand command{line, "plan", "Plans which sites get memory of their own, for 'acre run --plan'"};
    command.trace("FILE", options->file, "The trace").required();
    command.file("-o,--output", options->output, "The plan to write, - for standard output").default_is("-");
    command.one_of("--policy", options->choice, choices(), "advice",
                   "How a policy is chosen for each site: by the advice, or the same one for all; inverted and "
                   "shuffled make wrong plans, for tests");
    command.one_of("--left-to", options->leaves_to_malloc_below, malloc_choices(), "acre",
                   "What serves the requests that are not planned: acre's heap, or the malloc below, which is the one "
                   "that the program has without acre, linked or preloaded");
    const option measure = command.flag(
        "--measure", options->measures,
        "Run the recorded command again on acre's heap, without a plan and with each group of sites alone, "
        "and keep the groups that save CPU time");
    command.text("--budget", options->budget, "TIME", "How long the runs may take, in s, m or h, as in 5m")
        .check(refusal_of_time)
        .shows_default()
        .needs(measure);
    command.file("--stdin", options->input, "The file that each run reads from standard input")
        .default_is("/dev/null")
        .needs(measure);
    const option check = command
                             .text("--check", options->check, "COMMAND",
                                   "A shell command that reads the output of each run and accepts it by status 0")
                             .needs(measure);
    command.flag("--unchecked", options->unchecked, "Compare neither the outputs nor the exit statuses of the runs")
        .excludes(check)
        .needs(measure);
    command.footer(
        "The plan is JSON: each site has a policy (leave, pool, counted, separate or heap) and a group, and both may "
        "be\n"
        "changed by hand. docs/plan.md says what they mean.\n\n"
        "Examples:\n"
        "  acre plan app.acre -o app.plan\n"
        "  acre plan --measure --budget 5m app.acre -o app.plan\n"
        "  acre run --plan app.plan -- ./app input.txt\n"
        "  acre try --plan app.plan -- ./app input.txt\n\n"
        "Exit status 3: the trace was cut off; the plan is about its complete part.");
    command.runs([&, options] { return run_plan(*options, context); });
}

}  // namespace acre::tool
