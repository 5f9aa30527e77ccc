#include "advised_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "advise/measure.hpp"
#include "contest.hpp"
#include "plan/plan_making.hpp"
#include "programs/program.hpp"
#include "trace/error.hpp"
#include "ways.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t max_groups = 6;  // each costs a run a round

/// An advice whose group is run alone.
struct advised_way {
    std::size_t way = 0;
    std::size_t advice = 0;
};

double peak_of(const measured_run& run) {
    return static_cast<double>(run.peak_bytes);
}

double peak_ratio(const contest_result& runs, std::size_t way) {
    return runs.ways[way].of(peak_of).median / std::max(runs.ways[0].of(peak_of).median, 1.0);
}

/// What a way saves in the rounds, by its CPU time as a ratio to the program's as it is.
interval saved_nanoseconds(const contest_result& runs, std::size_t way) {
    const double cpu = runs.ways[0].of(&measured_run::cpu).median * 1e9;
    const interval ratio = runs.cpu_ratio(way);
    return {(1 - ratio.high) * cpu, (1 - ratio.median) * cpu, (1 - ratio.low) * cpu};
}

/// Adds the whole plan, and the advices alone that a plan can follow.
std::vector<advised_way> add_plans(way_list& ways, const std::filesystem::path& program, advice_list& list,
                                   trace_reader& reader, const call_paths& paths) {
    std::vector<advised_way> added;
    site_plan plan = make_plan(reader, paths, list).plan;
    const std::vector<plan_group> groups = groups_of(plan);
    if (groups.empty()) return added;
    const std::string name = std::filesystem::path{reader.path()}.replace_extension(".plan").string();
    for (const std::string& loss : ways.add_plan(program, plan, name)) list.notes.push_back(loss);
    plan.leaves_to_malloc_below = true;
    for (std::size_t i = 0; i < list.advices.size() && added.size() < max_groups; ++i) {
        const auto group = std::ranges::find(groups, group_name_of(i, list.advices[i], paths), &plan_group::name);
        if (group == groups.end() || group->policy == site_policy::separate) continue;
        added.push_back({ways.ways().size(), i});
        ways.add_group(program, plan, *group, name);
    }
    return added;
}

void note_advices(advice_list& list, const contest_result& runs, const std::vector<advised_way>& added) {
    for (const advised_way& each : added) {
        const way_result& found = runs.ways[each.way];
        if (!found.failure.empty()) continue;
        advice& of = list.advices[each.advice];
        of.in_runs = run_saving{.nanoseconds = saved_nanoseconds(runs, each.way),
                                .policy = found.how.group->policy,
                                .is_what_is_advised = found.how.group->policy == name_of(site_policy::pool),
                                .share_of_cpu = 1 - runs.cpu_ratio(each.way).median,
                                .peak_ratio = peak_ratio(runs, each.way)};
        decide_by_runs(of, list.cpu_nanoseconds);
    }
}

void note_preloads(advice_list& list, const contest_result& runs) {
    for (std::size_t way = 1; way < runs.ways.size(); ++way) {
        const way_result& each = runs.ways[way];
        if (!each.failure.empty()) {
            list.notes.push_back("With " + each.how.name + " the program " + each.failure + ".");
        } else if (!each.how.group) {
            list.preloads.push_back({each.how.name, saved_nanoseconds(runs, way), peak_ratio(runs, way)});
        }
    }
    std::ranges::sort(list.preloads, std::greater{},
                      [](const preload_saving& each) { return each.nanoseconds.median; });
}

}  // namespace

void run_for_advice(advice_list& list, trace_reader& reader, const call_paths& paths, const run_options& options) {
    const trace_header& header = reader.header();
    if (header.command.empty()) throw tool_error{"the trace does not say which program was recorded"};
    const std::filesystem::path program = find_program_to_preload(header.command.front(), "run");
    way_list ways{program, {}};
    std::vector<advised_way> added;
    try {
        added = add_plans(ways, program, list, reader, paths);
    } catch (const tool_error& error) {
        list.notes.push_back(std::string{"No advice was run alone: "} + error.what() + ".");
    }
    const contest_result runs = run_contest({.program = program,
                                             .arguments = header.command,
                                             .ways = ways.ways(),
                                             .input = options.input,
                                             .check = {},
                                             .required = same_result::output_and_status,
                                             .budget_seconds = options.seconds,
                                             .progress = options.progress});
    list.runs = program_runs{runs.rounds, runs.seconds, runs.is_precise};
    list.cpu_nanoseconds = static_cast<std::uint64_t>(runs.ways[0].of(&measured_run::cpu).median * 1e9);
    note_preloads(list, runs);
    note_advices(list, runs, added);
}

}  // namespace acre::tool
