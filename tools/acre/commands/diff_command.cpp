#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "diff/diff_report.hpp"
#include "diff/run_difference.hpp"
#include "reading_progress.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct diff_options {
    std::string before;
    std::string after;
    std::string by;  // empty: none was named
    std::size_t top = 10;
    std::optional<double> fail_above;  // percent
    bool json = false;
};

/// A trace, read for its figures.
struct read_run {
    read_run(const std::string& file, const command_context& context)
        : reader{file}, paths{reader.tables()}, summary{read(context)} {}

    compared_run compared() const { return {reader.tables(), paths, summary}; }

    trace_reader reader;
    call_paths paths;
    trace_summary summary;

private:
    trace_summary read(const command_context& context) {
        const reading_progress bar{"reading", reader, context};
        return summarise(reader, paths);
    }
};

/// One allocation in a hundred beside all of them would be no growth of the program.
void check_sampling(const trace_reader& before, const trace_reader& after) {
    const std::uint64_t one = before.header().sampling_period;
    const std::uint64_t other = after.header().sampling_period;
    if (one == other) return;
    throw tool_error{
        fmt::format("'{}' has one in {} allocations and '{}' one in {}: record both with the same sampling",
                    before.path().string(), count_text(one), after.path().string(), count_text(other))};
}

/// By other stacks a site is found elsewhere, which would be no change of the program.
void check_stacks(const trace_reader& before, const trace_reader& after) {
    const stack_method one = before.header().stacks;
    const stack_method other = after.header().stacks;
    if (one == other) return;
    const auto word = [](stack_method method) { return stack_methods.at(static_cast<std::size_t>(method)); };
    throw tool_error{
        fmt::format("'{}' was recorded with --stacks={} and '{}' with --stacks={}: record both with the same",
                    before.path().string(), word(one), after.path().string(), word(other))};
}

measure measure_named(const std::string& name) {
    const auto* const found =
        std::find_if(all_measures.begin(), all_measures.end(), [&](measure what) { return name == name_of(what); });
    return found == all_measures.end() ? measure::bytes : *found;
}

/// Says which totals grew by more than is allowed; false when none did.
bool tell_excess(const run_difference& difference, const diff_options& options) {
    bool exceeded = false;
    for (const measure what : all_measures) {
        const growth by = difference.by(what);
        const bool counts = options.by.empty() || options.by == name_of(what);
        if (!counts || by.share() * 100 <= *options.fail_above) continue;
        exceeded = true;
        tell(by.before == 0 ? fmt::format("{}: there were none before, and now {}", title_of(what), by.after)
                            : fmt::format("{} grew by {}, more than the {:g} % allowed", title_of(what),
                                          percent_text(by.share()), *options.fail_above));
    }
    return exceeded;
}

int run_diff(const diff_options& options, const command_context& context) {
    const read_run before{options.before, context};
    const read_run after{options.after, context};
    check_sampling(before.reader, after.reader);
    check_stacks(before.reader, after.reader);
    const run_difference difference = compare_runs(before.compared(), after.compared());
    const diff_view view{measure_named(options.by), options.top};
    if (options.json) {
        print(text_of(diff_json(difference, before.reader, after.reader, view)));
    } else {
        print(diff_text(difference, before.reader, after.reader, view));
    }
    const int missing = std::max(report_missing(before.reader), report_missing(after.reader));
    return options.fail_above && tell_excess(difference, options) ? status_failure : missing;
}

std::vector<std::string> measure_names() {
    std::vector<std::string> names;
    for (const measure what : all_measures) names.emplace_back(name_of(what));
    return names;
}

}  // namespace

void add_diff_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<diff_options>();
    CLI::App* command = app.add_subcommand("diff", "What grew and what shrank from one run of a program to another");
    option_values& values = context.values;
    values.trace(command->add_option("BEFORE", options->before, "The trace to compare with")->required());
    values.trace(command->add_option("AFTER", options->after, "The trace of the later run")->required());
    values.one_of(command->add_option("--by", options->by, "What to sort by; without it bytes"), measure_names());
    values
        .whole_number(
            command->add_option("--top", options->top, "How many sites to show that grew, and as many that shrank"),
            "N", 1, max_shown)
        ->capture_default_str();
    values.decimal(
        command->add_option("--fail-above", options->fail_above,
                            "Exit status 1 when a total (the one named with --by, or any) grew by more than so "
                            "many percent"),
        "PERCENT", 0, 1e9);
    command->add_flag("--json", options->json, "Print an object for machines; docs/command.md names its keys");
    command->footer(
        "Examples:\n"
        "  acre diff before.acre after.acre\n"
        "  acre diff --by allocations --top 30 before.acre after.acre\n"
        "  acre diff --fail-above 5 main.acre branch.acre    # in CI\n"
        "  acre diff --json a.acre b.acre | jq '.grew[] | {function, line}'\n\n"
        "Exit status 1: a total grew by more than --fail-above allows; 3: a trace was cut off, and what is whole of it "
        "was compared.");
    command->callback([&, options] { action = [&, options] { return run_diff(*options, context); }; });
}

}  // namespace acre::tool
