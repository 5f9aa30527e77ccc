#include "advised_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <utility>

#include "advise/measure.hpp"
#include "contest.hpp"
#include "machine_memory.hpp"
#include "plan/plan_making.hpp"
#include "recorded_program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "ways.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t max_groups = 6;  // each costs a run a round

// Of what a plan's library costs a request that it passes on, a request of a planned site does not pay so much: both
// are looked up, and only one is passed on (bench/results/advice.md).
constexpr double spared_by_plan = 0.6;
constexpr double doubt_of_spared = 0.15;

/// An advice whose group is run alone.
struct advised_way {
    std::size_t way = 0;
    advice* of = nullptr;
    double share_of_allocations = 0;
};

/// What a way saves, by its CPU time as a ratio to that of another way. The interval is that of what
/// somebody obtains who measures it again: two medians differ by sqrt(2) times as much as one from the true figure.
interval saved_nanoseconds(const contest_result& runs, std::size_t way, std::size_t base = 0) {
    const double cpu = runs.ways[0].of(&measured_run::cpu).median * 1e9;
    const interval ratio = runs.cpu_ratio(way, base);
    const double doubt = share_of_doubt(std::min(runs.ways[way].runs.size(), runs.rounds));
    const double less = std::numbers::sqrt2 * (ratio.high - ratio.median) + doubt;
    const double more = std::numbers::sqrt2 * (ratio.median - ratio.low) + doubt;
    return {(1 - ratio.median - less) * cpu, (1 - ratio.median) * cpu, (1 - ratio.median + more) * cpu};
}

/// The ways that follow advices, and that of the plan's library alone, with which they are compared.
struct advised_ways {
    std::size_t library = 0;  // none: 0, which is the program as it is
    std::vector<advised_way> advices{};
};

/// The group whose code puts what is too large for a slot into acre's heap, too.
plan_group with_large_requests(plan_group group, site_plan& plan) {
    group.policy = site_policy::heap;
    for (const std::size_t site : group.sites) plan.sites[site].policy = group.policy;
    return group;
}

/// The advices to run alone: acre's heap for C in the place of the arenas that it may replace, which a plan does not
/// reset.
std::vector<advice*> advices_to_run(advice_list& list) {
    std::vector<advice*> found;
    for (advice& each : list.advices) {
        const auto has_each = [&](const advice& heap) {
            return std::ranges::binary_search(heap.contexts, each.contexts.front());
        };
        const auto heap = std::ranges::find_if(list.heaps_instead, has_each);
        advice* const runs = heap == list.heaps_instead.end() ? &each : &*heap;
        if (std::ranges::find(found, runs) == found.end()) found.push_back(runs);
    }
    return found;
}

/// Adds the advices alone that a plan can follow: without huge pages, which the plan's library asks for, where a change
/// of the code would not.
void add_advices(way_list& ways, const std::filesystem::path& program, const std::vector<advice*>& advices,
                 site_plan plan, const std::string& name, const call_paths& paths, advised_ways& added) {
    plan.leaves_to_malloc_below = true;
    const std::vector<plan_group> groups = groups_of(plan);
    const bool only_asked = !are_huge_pages_unasked(huge_page_setting());
    std::uint64_t allocations = 0;
    for (const planned_site& each : plan.sites) allocations += each.allocations;
    for (std::size_t i = 0; i < advices.size() && added.advices.size() < max_groups; ++i) {
        const verdict candidate = advices[i]->candidate;
        if (candidate == verdict::leave || !traits_of(candidate).is_in_plan) continue;  // no code gets what a plan does
        const auto group = std::ranges::find(groups, group_name_of(i, *advices[i], paths), &plan_group::name);
        if (group == groups.end() || group->policy == site_policy::separate) continue;
        if (added.library == 0) {
            ways.add_library_of_plan(program, plan, name);
            if (only_asked) ways.without_huge_pages();
            added.library = ways.ways().size() - 1;
        }
        const bool is_heap = candidate == verdict::general_heap;  // which asks for huge pages
        ways.add_group(program, plan, is_heap ? with_large_requests(*group, plan) : *group, name);
        if (only_asked && !is_heap) ways.without_huge_pages();
        ways.compare_with(added.library);
        added.advices.push_back(
            {ways.ways().size() - 1, advices[i],
             static_cast<double>(group->allocations) / static_cast<double>(std::max<std::uint64_t>(allocations, 1))});
    }
}

/// Adds the whole plan, and the advices alone. If it throws, `added` has what was added before.
void add_plans(way_list& ways, const std::filesystem::path& program, advice_list& list, trace_reader& reader,
               const call_paths& paths, advised_ways& added) {
    site_plan plan = make_plan(reader, paths, list).plan;
    const std::string name = std::filesystem::path{reader.path()}.replace_extension(".plan").string();
    if (!groups_of(plan).empty()) {
        for (const std::string& loss : ways.add_plan(program, plan, name)) list.notes.push_back(loss);
    }
    const std::vector<advice*> advices = advices_to_run(list);
    if (!list.heaps_instead.empty()) {
        advice_list run;
        for (const advice* each : advices) run.advices.push_back(*each);
        plan = make_plan(reader, paths, run).plan;
    }
    add_advices(ways, program, advices, std::move(plan), name, paths, added);
}

void note_advices(advice_list& list, const contest_result& runs, const advised_ways& added) {
    if (added.advices.empty() || !runs.ways[added.library].failure.empty()) return;
    for (const advised_way& each : added.advices) {
        const way_result& found = runs.ways[each.way];
        if (!found.failure.empty()) continue;
        advice& of = *each.of;
        const double passing = std::max(runs.cpu_ratio(added.library).median - 1, 0.0);
        // A pool of a plan is no buffer that is kept: that saves more.
        const bool allocates = !allocates_less(of);
        const interval saved = saved_by_code(saved_nanoseconds(runs, each.way, added.library), passing,
                                             each.share_of_allocations, static_cast<double>(list.cpu_nanoseconds));
        of.in_runs =
            run_saving{.nanoseconds = saved,
                       .policy = found.how.group->policy,
                       .is_what_is_advised = allocates && (found.how.group->policy == name_of(site_policy::pool) ||
                                                           found.how.group->policy == name_of(site_policy::heap) ||
                                                           of.candidate == verdict::multi_arena),
                       .share_of_cpu = saved.median / static_cast<double>(list.cpu_nanoseconds),
                       .peak_ratio = runs.peak_ratio(each.way).median,
                       .rounds = std::min(found.runs.size(), runs.rounds)};
        decide_by_runs(of, list.cpu_nanoseconds);
    }
}

void note_preloads(advice_list& list, const contest_result& runs, std::size_t library_of_plan) {
    for (std::size_t way = 1; way < runs.ways.size(); ++way) {
        const way_result& each = runs.ways[way];
        if (each.was_left_out) continue;
        if (!each.failure.empty()) {
            list.notes.push_back("With " + each.how.name + " the program " + each.failure + ".");
        } else if (!each.how.group && way != library_of_plan) {
            list.preloads.push_back({each.how.name, saved_nanoseconds(runs, way), runs.peak_ratio(way).median,
                                     each.how.is_linked ? "" : words_before_command(each.how)});
        }
    }
    std::ranges::sort(list.preloads, std::greater{},
                      [](const preload_saving& each) { return each.nanoseconds.median; });
}

/// The ways that ran once, so that others could run more often.
void note_ways_left_out(advice_list& list, const contest_result& runs, std::size_t library_of_plan) {
    std::vector<std::string> names;
    std::size_t groups = 0;
    for (std::size_t way = 1; way < runs.ways.size(); ++way) {
        const way_result& each = runs.ways[way];
        if (!each.was_left_out || way == library_of_plan) continue;
        each.how.group ? (void)++groups : names.push_back(each.how.name);
    }
    if (groups != 0) names.push_back(plural(groups, "advice alone", "advices alone"));
    if (names.empty()) return;
    list.notes.push_back(
        fmt::format("There was time for only one run with {}: give --run more time.", fmt::join(names, ", ")));
}

/// How to get intervals of 95 %, where there was no time for them.
void note_few_rounds(advice_list& list, const contest_result& runs) {
    if (runs.rounds >= min_interval_rounds || runs.was_interrupted) return;
    // As many and the first one, which does not count then, in whole tens of seconds.
    const auto seconds_for = [&](std::size_t rounds) {
        const double needed = static_cast<double>(rounds + 1) * runs.seconds / static_cast<double>(runs.rounds);
        return 10 * std::ceil(needed / 10);
    };
    std::string text =
        fmt::format("Intervals of 95 % need six rounds, and there was time for {}: --run {:.0f}s allows six.",
                    runs.rounds, seconds_for(min_interval_rounds));
    if (runs.rounds < run_saving::enough_rounds) {
        text += fmt::format(
            " So few do not tell whether an advice saves what its replay says, and the replay decides: --run {:.0f}s "
            "allows three.",
            seconds_for(run_saving::enough_rounds));
    }
    list.notes.push_back(std::move(text));
}

}  // namespace

std::string variation_text(std::span<const double> cpu_seconds) {
    constexpr double much = 1.3;
    if (cpu_seconds.size() < 2) return {};
    const auto [shortest, longest] = std::ranges::minmax(cpu_seconds);
    if (longest < much * shortest) return {};
    return fmt::format(
        "As it is, the program took {} to {} of CPU time in these runs. It varies so much where threads wait for each "
        "other, or where other programs run beside it: give --run more time, with little else running.",
        time_text(shortest * 1e9), time_text(longest * 1e9));
}

interval saved_by_code(const interval& by_plan, double passing, double share_of_allocations, double cpu_nanoseconds) {
    const double spared = share_of_allocations * passing * cpu_nanoseconds;
    // Where threads wait for each other in the malloc below, passing on costs more than a plan's own work, and no code
    // takes less than half of what the run with the plan did.
    const auto by_code = [&](double nanoseconds, double share) {
        const double taken = (1 + passing) * (cpu_nanoseconds - nanoseconds);
        return std::min((1 + passing) * nanoseconds - share * spared, cpu_nanoseconds - taken / 2);
    };
    return {by_code(by_plan.low, spared_by_plan + doubt_of_spared), by_code(by_plan.median, spared_by_plan),
            by_code(by_plan.high, spared_by_plan - doubt_of_spared)};
}

void run_for_advice(advice_list& list, trace_reader& reader, const call_paths& paths,
                    const advised_run_options& options) {
    const trace_header& header = reader.header();
    const std::filesystem::path program = recorded_program(header.command);
    way_list ways{program, {}};
    advised_ways added;
    try {
        add_plans(ways, program, list, reader, paths, added);
    } catch (const plan_of_another_program&) {
        throw recording_of_another_program(reader.path().string(), program);
    } catch (const tool_error& error) {
        list.notes.push_back(std::string{"No advice was run alone: "} + error.what() + ".");
    }
    const contest_result runs = run_contest({.program = program,
                                             .arguments = header.command,
                                             .ways = ways.ways(),
                                             .input = options.input,
                                             .check = {},
                                             .required = same_result::output_and_status,
                                             .has_result_options = false,
                                             .drops_losers = true,
                                             .longest_first_run = longest_run(header.duration),
                                             .recorded_cpu_nanoseconds = list.cpu_nanoseconds,
                                             .budget_seconds = options.seconds,
                                             .progress = options.progress});
    if (!runs.each_way_ran)
        throw tool_error{"interrupted before the program had run once in each way: nothing was measured"};
    list.runs = program_runs{runs.rounds, runs.seconds, runs.is_precise, runs.was_interrupted};
    for (const way_result& each : runs.ways)
        list.runs->ways.push_back({each.how.name, each.in_rounds(&measured_run::cpu)});
    const auto cpu = static_cast<std::uint64_t>(runs.ways[0].of(&measured_run::cpu).median * 1e9);
    list.cpu_nanoseconds = cpu;
    note_preloads(list, runs, added.library);
    note_advices(list, runs, added);
    note_ways_left_out(list, runs, added.library);
    note_few_rounds(list, runs);
    std::string variation = variation_text(runs.ways[0].in_rounds(&measured_run::cpu));
    if (!variation.empty()) list.notes.push_back(std::move(variation));
    if (runs.left_running != 0) list.notes.push_back(left_running_text(runs.left_running));
    if (runs.was_interrupted)
        list.notes.emplace_back(
            "Interrupted: the figures of runs are those of the rounds before, and nothing was replayed.");
}

}  // namespace acre::tool
