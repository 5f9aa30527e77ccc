#include "measured_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "plan/handed_plan.hpp"
#include "recorded_program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "ways.hpp"

namespace acre::tool {

namespace {

constexpr double share_for_parts = 0.5;  // of the time; the rest is for what is kept
constexpr double min_share = 0.01;       // of the allocations: what has fewer is not run alone
constexpr double wanted_rounds = 6;      // the fewest that give an interval
constexpr double precision = 0.01;

constexpr const char* saves_alone = "saves alone";
constexpr const char* saves_with_others = "saves with the others";
constexpr const char* saves_without_others = "saves alone, not with the others";
constexpr const char* saves_nothing = "saves nothing beyond the noise";
constexpr const char* costs_time = "costs time";
constexpr const char* gives_another_result = "changes the result";

/// A group, or some small ones together.
struct plan_part {
    std::string name;
    std::string policy;
    std::vector<plan_group> groups{};
    std::uint64_t allocations = 0;

    void add(const plan_group& group) {
        groups.push_back(group);
        allocations += group.allocations;
    }
};

/// The largest groups, and the others together.
std::vector<plan_part> parts_of(const site_plan& plan, std::uint64_t allocations, std::size_t most) {
    std::vector<plan_part> parts;
    plan_part others;
    for (const plan_group& each : groups_of(plan)) {
        if (parts.size() < most &&
            static_cast<double>(each.allocations) >= min_share * static_cast<double>(allocations)) {
            parts.push_back({each.name, std::string{name_of(each.policy)}});
            parts.back().add(each);
        } else {
            others.add(each);
        }
    }
    if (others.groups.empty()) return parts;
    if (others.groups.size() == 1) {
        others.name = others.groups.front().name;
        others.policy = name_of(others.groups.front().policy);
    } else {
        others.name = plural(others.groups.size(), "smaller group", "smaller groups");
    }
    parts.push_back(std::move(others));
    return parts;
}

/// So many groups that each gets a few rounds.
std::size_t affordable_parts(const plan_run_options& options) {
    const double run = static_cast<double>(options.recorded_cpu_nanoseconds) / 1e9;
    const double runs = run > 0 ? options.seconds * share_for_parts / run / wanted_rounds : way_list::max_groups;
    return static_cast<std::size_t>(std::clamp(runs - 2, 1.0, static_cast<double>(way_list::max_groups)));
}

std::vector<plan_group> groups_in(const std::vector<plan_part>& parts, const std::vector<bool>& chosen) {
    std::vector<plan_group> groups;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (chosen[i]) groups.insert(groups.end(), parts[i].groups.begin(), parts[i].groups.end());
    }
    return groups;
}

/// What a part brings, by runs beside the base.
struct part_figures {
    interval cpu_ratio{};
    double cpu_seconds_saved = 0;
    double peak_ratio = 0;
    double doubt = 0;
    bool failed = false;

    bool saves() const { return !failed && cpu_ratio.high + doubt < 1; }
    bool costs() const { return !failed && cpu_ratio.low - doubt > 1; }
    bool may_save() const { return !failed && cpu_ratio.median < 1; }
};

struct part_results {
    std::vector<part_figures> parts{};
    std::size_t rounds = 0;
    std::uint64_t cpu_nanoseconds = 0;  // of the program as it is
};

/// The recorded program in rounds, with parts of its plan.
class plan_runs {
public:
    plan_runs(const site_plan& plan, std::filesystem::path program, const plan_run_options& options)
        : plan_{plan}, program_{std::move(program)}, options_{options} {}

    double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

    /// Until so much of the time is over.
    part_results run(const std::vector<std::vector<plan_group>>& parts, double until) const {
        way_list ways{program_};
        if (!plan_.leaves_to_malloc_below) ways.add_acre();
        const std::size_t base = ways.ways().size() - 1;
        for (std::size_t i = 0; i < parts.size(); ++i)
            ways.add_part(program_, plan_of(parts[i], plan_), fmt::format("part {}", i + 1), options_.name);
        const double from = elapsed();
        const double seconds = std::max(until * options_.seconds - from, 0.0);
        const contest_result runs = run_contest({.program = program_,
                                                 .arguments = plan_.command,
                                                 .ways = ways.ways(),
                                                 .base = base,
                                                 .input = options_.input,
                                                 .check = options_.check,
                                                 .required = options_.required,
                                                 .recorded_cpu_nanoseconds = options_.recorded_cpu_nanoseconds,
                                                 .budget_seconds = seconds,
                                                 .precision = precision,
                                                 .progress = [&](double) { show_progress(); }});
        if (runs.was_interrupted) throw tool_error{"interrupted: no plan was made"};
        if (!runs.ways[base].failure.empty())
            throw tool_error{"the plan cannot be measured: on acre's heap the program " + runs.ways[base].failure};
        return figures_of(runs, base);
    }

private:
    using clock = std::chrono::steady_clock;

    void show_progress() const {
        if (options_.progress) options_.progress(std::min(elapsed() / options_.seconds, 0.99));
    }

    static part_results figures_of(const contest_result& runs, std::size_t base) {
        const double cpu = runs.ways[0].of(&measured_run::cpu).median;
        part_results results{.rounds = runs.rounds, .cpu_nanoseconds = static_cast<std::uint64_t>(cpu * 1e9)};
        for (std::size_t way = base + 1; way < runs.ways.size(); ++way) {
            if (!runs.ways[way].failure.empty()) {
                results.parts.push_back({.failed = true});
                continue;
            }
            results.parts.push_back({.cpu_ratio = runs.cpu_ratio(way, base),
                                     .cpu_seconds_saved = runs.cpu_saved(way, base).median,
                                     .peak_ratio = runs.peak_ratio(way, base).median,
                                     .doubt = share_of_doubt(runs.rounds)});
        }
        return results;
    }

    const site_plan& plan_;
    std::filesystem::path program_;
    const plan_run_options& options_;
    clock::time_point start_ = clock::now();
};

/// Which parts to run together, as bits of them: those that save alone; the best one, two, four, ... of those that may
/// save, and all of these; all parts, where they save. What some bring together is not the sum of what each brings
/// alone, for data lies elsewhere then.
std::vector<std::vector<bool>> combinations_of(const std::vector<part_figures>& alone, bool all_save) {
    std::vector<std::vector<bool>> combinations;
    const auto add = [&](const std::vector<bool>& each) {
        if (std::ranges::find(each, true) == each.end()) return;
        if (std::ranges::find(combinations, each) == combinations.end()) combinations.push_back(each);
    };
    std::vector<bool> saving(alone.size());
    std::vector<std::size_t> best_first;
    for (std::size_t i = 0; i < alone.size(); ++i) {
        saving[i] = alone[i].saves();
        if (alone[i].may_save()) best_first.push_back(i);
    }
    add(saving);
    std::ranges::sort(best_first, {}, [&](std::size_t i) { return alone[i].cpu_ratio.median; });
    std::vector<bool> best(alone.size());
    for (std::size_t count = 1; count <= best_first.size(); ++count) {
        best[best_first[count - 1]] = true;
        if (std::has_single_bit(count) || count == best_first.size()) add(best);
    }
    if (all_save) add(std::vector<bool>(alone.size(), true));
    return combinations;
}

/// The one that takes the least CPU time, if it saves any.
std::optional<std::size_t> best_of(const std::vector<part_figures>& figures) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        if (figures[i].saves() && (!best || figures[i].cpu_ratio.median < figures[*best].cpu_ratio.median)) best = i;
    }
    return best;
}

struct alone_and_all {
    std::vector<part_figures> parts;
    bool all_save = false;
    std::size_t rounds = 0;
};

alone_and_all run_alone(const plan_runs& runs, const std::vector<plan_part>& parts) {
    std::vector<std::vector<plan_group>> ways(parts.size());
    std::ranges::transform(parts, ways.begin(), &plan_part::groups);
    if (parts.size() > 1) ways.push_back(groups_in(parts, std::vector<bool>(parts.size(), true)));
    part_results found = runs.run(ways, share_for_parts);
    const bool all_save = found.parts.back().saves();
    found.parts.resize(parts.size());
    return {std::move(found.parts), all_save, found.rounds};
}

/// Which parts to keep: those of the best combination, whose figures go into `measured`.
std::vector<bool> run_together(const plan_runs& runs, const std::vector<plan_part>& parts, const alone_and_all& alone,
                               plan_measurement& measured) {
    const std::vector<std::vector<bool>> combinations = combinations_of(alone.parts, alone.all_save);
    if (combinations.empty()) return std::vector<bool>(parts.size());
    std::vector<std::vector<plan_group>> ways(combinations.size());
    std::ranges::transform(combinations, ways.begin(), [&](const auto& each) { return groups_in(parts, each); });
    const part_results together = runs.run(ways, 1);
    const auto best = best_of(together.parts);
    if (!best) return std::vector<bool>(parts.size());
    measured.cpu_ratio = together.parts[*best].cpu_ratio;
    measured.peak_ratio = together.parts[*best].peak_ratio;
    measured.rounds_together = together.rounds;
    return combinations[*best];
}

const char* finding_of(const part_figures& alone, bool is_kept) {
    if (alone.failed) return gives_another_result;
    if (alone.saves()) return is_kept ? saves_alone : saves_without_others;
    if (is_kept) return saves_with_others;
    return alone.costs() ? costs_time : saves_nothing;
}

measured_group group_of(const plan_part& part, const part_figures& alone, bool is_kept) {
    measured_group group{.name = part.name,
                         .policy = part.policy,
                         .allocations = part.allocations,
                         .is_kept = is_kept,
                         .finding = finding_of(alone, is_kept)};
    if (alone.failed) return group;
    group.cpu_ratio = alone.cpu_ratio;
    group.cpu_seconds_saved = alone.cpu_seconds_saved;
    group.peak_ratio = alone.peak_ratio;
    return group;
}

std::string ratio_text(const interval& ratio, std::size_t rounds) {
    return rounds >= 3 ? fmt::format("{:.3f} ({:.3f} .. {:.3f})", ratio.median, ratio.low, ratio.high)
                       : fmt::format("{:.3f}", ratio.median);
}

std::vector<std::string> row_of(const measured_group& group, std::size_t rounds) {
    std::vector<std::string> row{group.is_kept ? "kept" : "left", printable(group.name), group.policy,
                                 count_text(group.allocations)};
    if (group.cpu_ratio) {
        row.push_back((group.cpu_seconds_saved < 0 ? "-" : "") + time_text(std::abs(group.cpu_seconds_saved) * 1e9));
        row.push_back(ratio_text(*group.cpu_ratio, rounds));
        row.push_back(fmt::format("{:.2f}", group.peak_ratio));
    } else {
        row.insert(row.end(), 3, "");
    }
    row.push_back(group.finding);
    return row;
}

/// "acre's heap without a plan"
std::string base_text(const plan_measurement& measured) {
    return measured.compared_with == acre_way ? "acre's heap without a plan" : "the program as it is";
}

std::string conclusion_of(const plan_measurement& measured) {
    if (measured.groups.empty()) return "The advice plans no site, so nothing was run.";
    if (!measured.cpu_ratio) {
        return fmt::format(
            "Kept: none. Nothing that was run saves CPU time beyond the noise beside {}: run the "
            "program without this plan.",
            base_text(measured));
    }
    const auto kept = std::ranges::count_if(measured.groups, &measured_group::is_kept);
    return fmt::format(
        "Kept: {} of {}. With {} the program takes {} of the CPU time and {:.2f} of the memory of {}, in "
        "{}.",
        kept, measured.groups.size(), kept == 1 ? "it" : "them",
        ratio_text(*measured.cpu_ratio, measured.rounds_together), measured.peak_ratio, base_text(measured),
        plural(measured.rounds_together, "more round", "more rounds"));
}

std::vector<std::string> losses_of(const site_plan& plan, const plan_run_options& options,
                                   const std::filesystem::path& program) {
    try {
        return handed_plan{plan, options.name, program}.losses();
    } catch (const plan_of_another_program&) {
        throw recording_of_another_program(options.trace, program);
    }
}

}  // namespace

std::vector<std::string> keep_what_saves(site_plan& plan, const plan_run_options& options) {
    plan.measured = plan_measurement{.compared_with = plan.leaves_to_malloc_below ? "as it is" : std::string{acre_way}};
    const std::vector<plan_part> parts = parts_of(plan, options.allocations, affordable_parts(options));
    if (parts.empty()) return {};
    const std::filesystem::path program = recorded_program(plan.command);
    std::vector<std::string> losses = losses_of(plan, options, program);
    const plan_runs runs{plan, program, options};
    const alone_and_all alone = run_alone(runs, parts);
    const std::vector<bool> kept = run_together(runs, parts, alone, *plan.measured);
    for (std::size_t i = 0; i < parts.size(); ++i)
        plan.measured->groups.push_back(group_of(parts[i], alone.parts[i], kept[i]));
    plan.measured->rounds = alone.rounds;
    plan.measured->seconds = runs.elapsed();
    plan = plan_of(groups_in(parts, kept), std::move(plan));
    return losses;
}

std::string measured_text(const plan_measurement& measured) {
    if (measured.groups.empty()) return wrapped(conclusion_of(measured), 0);
    std::vector<std::vector<std::string>> rows{
        {"", "group", "policy", "allocations", "CPU saved", "x " + measured.compared_with, "x memory", ""}};
    for (const measured_group& each : measured.groups) rows.push_back(row_of(each, measured.rounds));
    return fmt::format("Each group alone beside {}: {} of {} in all\n\n", base_text(measured),
                       plural(measured.rounds, "round", "rounds"), time_text(measured.seconds * 1e9)) +
           table_text(rows, {0, 1, 2, 7}) + "\n" + wrapped(conclusion_of(measured), 2);
}

}  // namespace acre::tool
