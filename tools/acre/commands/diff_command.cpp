#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "diff/diff_report.hpp"
#include "diff/run_difference.hpp"
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

/// A trace and the figures of its run.
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

/// Figures of a sample and of a whole run cannot be compared.
void check_sampling(const trace_reader& before, const trace_reader& after) {
    const std::uint64_t one = before.header().sampling_period;
    const std::uint64_t other = after.header().sampling_period;
    if (one == other) return;
    throw tool_error{
        fmt::format("'{}' has one in {} allocations and '{}' one in {}: record both with the same sampling",
                    before.path().string(), count_text(one), after.path().string(), count_text(other))};
}

/// Another stack method finds other sites in an unchanged program.
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

/// Reports the totals that grew by more than --fail-above allows; false when none did.
bool tell_excess(const run_difference& difference, const diff_options& options) {
    bool exceeded = false;
    for (const measure what : all_measures) {
        const growth by = difference.by(what);
        const bool counts = options.by.empty() || options.by == name_of(what);
        if (!counts || by.share() * 100 <= *options.fail_above) continue;
        exceeded = true;
        tell(by.before == 0 ? fmt::format("{}: 0 before, {} now", title_of(what), by.after)
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
    names.reserve(std::size(all_measures));
    for (const measure what : all_measures) names.emplace_back(name_of(what));
    return names;
}

}  // namespace

void add_diff_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<diff_options>();
    subcommand command{line, "diff", "Shows what grew and what shrank between two runs of a program"};
    command.trace("BEFORE", options->before, "The trace to compare with").required();
    command.trace("AFTER", options->after, "The trace of the later run").required();
    command.one_of("--by", options->by, measure_names(), "The figure to sort by").default_is("bytes");
    command
        .whole_number("--top", options->top, 1, max_shown, "How many sites that grew to show, and how many that shrank")
        .shows_default();
    command.decimal("--fail-above", options->fail_above, "PERCENT", 0, 1e9,
                    "Exit status 1 when a total (the one of --by, or any) grew by more than this");
    command.flag("--json", options->json, "Print an object for machines; docs/command.md names its keys");
    command.footer(
        "Examples:\n"
        "  acre diff before.acre after.acre\n"
        "  acre diff --by allocations --top 30 before.acre after.acre\n"
        "  acre diff --fail-above 5 main.acre branch.acre    # in CI\n"
        "  acre diff --json a.acre b.acre | jq '.grew[] | {function, line}'\n\n"
        "Exit status 1: a total grew by more than --fail-above allows; 3: a trace was cut off, and its complete part "
        "was compared.");
    command.runs([&, options] { return run_diff(*options, context); });
}

}  // namespace acre::tool
