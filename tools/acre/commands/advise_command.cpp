#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/advice_report.hpp"
#include "advise/apply_check.hpp"
#include "advise/candidates.hpp"
#include "advise/debug_packages.hpp"
#include "advise/history.hpp"
#include "advise/measure.hpp"
#include "advise/pinned_pages.hpp"
#include "advise/short_answer.hpp"
#include "advise/unseen_uses.hpp"
#include "command.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "try/advised_runs.hpp"

namespace acre::tool {

namespace {

struct advise_options {
    std::vector<std::string> files;  // one, or two to check how advice was applied
    bool apply_check = false;
    std::optional<double> cpu_before;  // seconds
    std::optional<double> cpu_after;
    std::size_t top = 10;
    std::string run_time;  // empty: do not run it
    std::string input;
    bool json = false;
    bool all = false;
    std::size_t explain = 0;  // number of a recommendation; 0: none
    bool no_measure = false;
};

history read_history(trace_reader& reader, const call_paths& paths, const command_context& context) {
    const reading_progress bar{"reading", reader, context};
    return {reader, paths};
}

void measure_advices(advice_list& list, const history& run, const call_paths& paths, const command_context& context) {
    progress_bar bar{"measuring", !context.quiet};
    measure_advices(context.host(), run, paths, list, [&](double done) { bar.show(done); });
}

/// A trace, read for advice.
struct opened_run {
    opened_run(const std::string& file, const command_context& context)
        : reader{file}, paths{reader.tables()}, run{read_history(reader, paths, context)} {
        if (run.object_count() == 0) throw tool_error{"'" + file + "' has no allocations to advise about"};
    }

    trace_reader reader;
    call_paths paths;
    history run;
};

std::optional<cpu_times> cpu_times_of(const advise_options& options, const trace_header& before,
                                      const trace_header& after) {
    if (options.cpu_before) return cpu_times{*options.cpu_before * 1e9, *options.cpu_after * 1e9, false};
    if (!before.end_is_known() || !after.end_is_known()) return std::nullopt;
    const auto nanoseconds = [](const trace_header& of) {
        return static_cast<double>(of.program_microseconds()) * 1000;
    };
    return cpu_times{nanoseconds(before), nanoseconds(after), true};
}

/// Refuses two runs of different programs; remarks where their arguments differ.
void require_same_program(const opened_run& before, const opened_run& after, const command_context& context) {
    const auto words = [](const opened_run& of) { return std::span{of.reader.header().command}; };
    const auto name = [&](const opened_run& of) {
        return words(of).empty() ? std::string{} : std::filesystem::path{words(of).front()}.filename().string();
    };
    if (name(before) != name(after) && !have_common_functions(before.paths, after.paths)) {
        throw tool_error{
            fmt::format("'{}' was recorded of {}, and '{}' of {}, with no function in common: record the same "
                        "program before and after the change",
                        before.reader.path().string(), printable(name(before)), after.reader.path().string(),
                        printable(name(after)))};
    }
    const auto arguments = [&](const opened_run& of) { return words(of).subspan(words(of).empty() ? 0 : 1); };
    if (!std::ranges::equal(arguments(before), arguments(after))) {
        remark(context, "the two runs had different arguments: the comparison holds only where they did the same work");
    }
}

int run_apply_check(const advise_options& options, const command_context& context) {
    opened_run before{options.files.front(), context};
    opened_run after{options.files.back(), context};
    for (const opened_run* each : {&before, &after}) {
        if (each->reader.header().is_sampled()) {
            throw tool_error{"'" + each->reader.path().string() +
                             "' is a sample of the allocations: record all of them to check an advice"};
        }
        if (!each->reader.missing().empty()) {
            throw tool_error{"'" + each->reader.path().string() +
                             "' was cut off, and what it lacks is not gone from the program: record again"};
        }
    }
    require_same_program(before, after, context);
    advice_list list = find_candidates(before.run, before.paths);
    list.cpu_nanoseconds = recorded_cpu_nanoseconds(before.reader);
    if (list.advices.size() > options.top) list.advices.resize(options.top);
    measure_advices(list, before.run, before.paths, context);
    const apply_check check = check_application(list, before.run, before.paths, after.run, after.paths,
                                                cpu_times_of(options, before.reader.header(), after.reader.header()));
    print(options.json ? text_of(apply_json(check, list, before.paths)) : apply_text(check, list, before.paths));
    return check.held() ? status_success : status_failure;
}

void remark_missing_stacks(const trace_header& header, const command_context& context) {
    if (!header.stacks_at_free) {
        remark(context,
               "the trace has no stacks at frees, so no arena can be advised: record without --no-free-stacks");
    }
    if (header.stacks == stack_method::caller) {
        remark(context,
               "the trace has one frame of each stack, so scopes are not known: record with --stacks=unwind for advice "
               "about them");
    }
}

/// Plays of the whole run take long, and nothing in them is timed, so they run beside all else.
std::future<std::optional<pinned_memory>> begin_study_of_pinned_pages(const opened_run& opened) {
    return std::async(std::launch::async | std::launch::deferred, [&opened] {
        return study_pinned_pages(opened.run, opened.paths, opened.reader.header().allocator);
    });
}

/// The candidates to show, with what the trace says of the run.
advice_list candidates_of(opened_run& opened, std::size_t top) {
    const trace_header& header = opened.reader.header();
    advice_list list = find_candidates(opened.run, opened.paths, header.sampling_period);
    list.allocator = header.allocator;
    list.cpu_nanoseconds = recorded_cpu_nanoseconds(opened.reader);
    if (list.advices.size() > top) {
        list.omitted = list.advices.size() - top;
        list.advices.resize(top);
    }
    list.unnamed = unnamed_modules(list, opened.paths, opened.reader.tables());
    return list;
}

void run_program(advice_list& list, opened_run& opened, const advise_options& options, const command_context& context) {
    progress_bar bar{"running the program", !context.quiet};
    run_for_advice(list, opened.reader, opened.paths,
                   {parse_seconds(options.run_time).value(), options.input, [&](double done) { bar.show(done); }});
    clear_progress();
}

std::string answer_of(const advice_list& list, const call_paths& paths, const trace_header& header,
                      const advise_options& options) {
    if (options.json) return text_of(advice_json(list, paths, header));
    if (options.all) return advice_text(list, paths, header);
    if (options.explain == 0) return short_answer(list, paths, header, quoted_for_shell(options.files.front()));
    if (options.explain > list.advices.size()) {
        throw tool_error{fmt::format("there is no recommendation {}: this trace has {}", options.explain,
                                     plural(list.advices.size(), "entry", "entries"))};
    }
    return explanation_text(list, options.explain - 1, paths);
}

int run_advise(const advise_options& options, const command_context& context) {
    opened_run opened{options.files.front(), context};
    const trace_header& header = opened.reader.header();
    remark_missing_stacks(header, context);
    const bool measures = !options.no_measure && !header.is_sampled();
    std::future<std::optional<pinned_memory>> pinned;
    if (measures) pinned = begin_study_of_pinned_pages(opened);
    advice_list list = candidates_of(opened, std::max(options.top, options.explain));
    if (!options.run_time.empty()) run_program(list, opened, options, context);
    const bool is_interrupted = list.runs && list.runs->were_interrupted;
    if (measures && !is_interrupted) measure_advices(list, opened.run, opened.paths, context);
    if (pinned.valid()) list.pinned = pinned.get();
    find_unseen_uses(list, opened.run, opened.paths);
    if (list.baseline.empty()) remark_allocator(context, header);
    print(answer_of(list, opened.paths, header, options));
    return report_missing(opened.reader);
}

void require_number_of_traces(const advise_options& options, const command_context& context) {
    if (!context.rest.empty() && !options.files.empty()) {
        throw usage_error{"give a trace, or a program after --, and not both"};
    }
    if (context.rest.empty() && options.files.empty()) {
        throw usage_error{"FILE, or a program after --, is required"};
    }
    if (options.apply_check && options.files.size() != 2) {
        throw usage_error{
            fmt::format("--apply-check takes two traces, BEFORE and AFTER: {} given", options.files.size())};
    }
    if (!options.apply_check && options.files.size() > 1) {
        throw usage_error{fmt::format("one trace is advised at a time, and {} are given: --apply-check compares two",
                                      options.files.size())};
    }
}

/// Records the program after "--". The trace stays: other subcommands show more of it.
void record_for(advise_options& options, const command_context& context) {
    options.files = {record_program(context)};
    const std::string trace = quoted_for_shell(options.files.front());
    remark(context, "wrote " + trace + ": 'acre report " + trace + "' makes a page of it");
}

}  // namespace

void add_advise_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<advise_options>();
    subcommand command{line, "advise",
                       "Advises an allocator for each scope and site, with the code to write and what it saves"};
    command.traces("FILE", options->files, "TRACE", "The trace; with --apply-check two, BEFORE and AFTER");
    const option check = command.flag("--apply-check", options->apply_check,
                                      "Compare traces from before and after advice was followed: was it followed, and "
                                      "did it save what was predicted?");
    const option cpu_before = command
                                  .decimal("--cpu-before", options->cpu_before, "SECONDS", 0, 1e9,
                                           "CPU seconds of the run before, without recording")
                                  .needs(check);
    const option cpu_after = command
                                 .decimal("--cpu-after", options->cpu_after, "SECONDS", 0, 1e9,
                                          "CPU seconds of the run after, without recording")
                                 .needs(check);
    cpu_before.needs(cpu_after);
    cpu_after.needs(cpu_before);
    const option run =
        command
            .text("--run", options->run_time, "TIME",
                  "Run the recorded command again for TIME, in s, m or h, as in 5m: as it is, with each installed "
                  "malloc, with a plan, and with each advice alone; each at least once, however long that takes. The "
                  "figures are then those of runs")
            .check(refusal_of_time)
            .excludes(check);
    command.file("--stdin", options->input, "With --run: the file that each run reads from standard input")
        .default_is("/dev/null")
        .needs(run);
    command.whole_number("--top", options->top, 1, max_shown, "How many advices to measure and show").shows_default();
    const option all =
        command.flag("--all", options->all, "Print all recommendations, with the figures behind each").excludes(check);
    const option explain = command
                               .whole_number("--explain", options->explain, 1, max_shown,
                                             "Print one recommendation: where, what it saves, why, and what must hold")
                               .excludes(check)
                               .excludes(all);
    command.flag("--json", options->json, "Print an object for machines; docs/advise_json.md names its keys")
        .excludes(explain);
    command
        .flag("--no-measure", options->no_measure,
              "Advise by the lifetimes of the objects alone; replay nothing and give no savings")
        .excludes(check);
    command.footer(
        "Examples:\n"
        "  acre advise app.acre\n"
        "  acre advise -- ./app input.txt\n"
        "  acre advise --explain 1 app.acre\n"
        "  acre advise --run 30 app.acre\n"
        "  acre advise --apply-check before.acre after.acre --cpu-before 1.77 --cpu-after 0.83\n"
        "  acre advise --json app.acre | jq '.advices[] | {verdict, file, line}'\n\n"
        "Exit status 3: the trace was cut off; the advice is about its complete part. With --apply-check 1: no advice\n"
        "was followed, or it saved less than predicted.");
    command.runs([&, options] {
        require_number_of_traces(*options, context);
        if (!context.rest.empty()) record_for(*options, context);
        return options->apply_check ? run_apply_check(*options, context) : run_advise(*options, context);
    });
}

}  // namespace acre::tool
