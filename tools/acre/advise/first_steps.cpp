#include "first_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "rules.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

// A change of the code must save this many times what a malloc saves that only needs to be preloaded.
constexpr double worth_of_code = 1.25;

// Of the CPU time. Where something may save as much, the answer is not to leave the program.
constexpr double too_much_to_leave = 0.05;

/// What to do for a saving by this malloc, as `acre try` names it.
std::string preload_text(const std::string& name) {
    if (name == preload_saving::acre_heap) return "start it by acre run";
    if (name == preload_saving::acre_plan)
        return "start it by acre run with the plan that acre plan makes of this trace";
    return "preload " + name;
}

std::optional<double> share_of(double nanoseconds, const advice_list& list) {
    if (list.cpu_nanoseconds == 0) return std::nullopt;
    return nanoseconds / static_cast<double>(list.cpu_nanoseconds);
}

bool is_worth_it(const first_step& step) {
    return step.nanoseconds.low > 0 && step.share.value_or(1) >= threshold::worth_the_change;
}

first_step step_of(const preload_saving& each, const advice_list& list) {
    first_step step;
    step.what = each.name;
    step.nanoseconds = each.nanoseconds;
    step.share = share_of(each.nanoseconds.median, list);
    step.cost = "no change to the code";
    step.is_certain = list.runs.has_value();
    if (each.peak_ratio) step.cost += fmt::format("; {:.2f} times the memory at the peak", *each.peak_ratio);
    return step;
}

/// The malloc that saves most by its median.
std::optional<first_step> best_preload(const advice_list& list) {
    const auto saved = [](const preload_saving& each) { return each.nanoseconds.median; };
    const auto best = std::ranges::max_element(list.preloads, {}, saved);
    if (best == list.preloads.end()) return std::nullopt;
    return step_of(*best, list);
}

std::string cost_of(const advice& each, const call_paths& paths) {
    std::set<std::string> files;
    for (const site_objects& site : each.sites) files.insert(paths.sites()[site.site].file);
    std::string text = plural(each.sites.size(), "site", "sites");
    if (files.size() > 1) text += fmt::format(" in {}", plural(files.size(), "file", "files"));
    return text + fmt::format(" to change; {} at the peak instead of {}", bytes_text(each.saving.candidate_peak_bytes),
                              bytes_text(each.saving.system_peak_bytes));
}

first_step step_of(const advice_list& list, std::size_t number, const call_paths& paths) {
    const advice& each = list.advices[number];
    return {.advice = number,
            .what = title_of(each.candidate, each, paths),
            .nanoseconds = each.expected_nanoseconds(),
            .share = share_of(each.median_nanoseconds(), list),
            .cost = cost_of(each, paths)};
}

std::optional<first_step> best_advice(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> best;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.decision == verdict::leave || !each.saving.done) continue;
        if (best && each.expected_nanoseconds().median <= best->nanoseconds.median) continue;
        best = step_of(list, i, paths);
    }
    return best;
}

/// What may save much, although the measurement does not exclude that it saves nothing, or only a part of it was seen
/// on a clean heap.
std::optional<first_step> best_perhaps(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> best;
    const auto consider = [&](first_step step) {
        step.share = share_of(step.nanoseconds.median, list);
        step.is_certain = false;
        if (!step.share || *step.share < too_much_to_leave) return;
        if (!best || step.nanoseconds.median > best->nanoseconds.median) best = std::move(step);
    };
    if (std::optional<first_step> preload = best_preload(list)) consider(std::move(*preload));
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.saving.done && each.candidate != verdict::leave) consider(step_of(list, i, paths));
    }
    return best;
}

/// What only a sample says not to be worth it, with an interval that does not exclude that it is: what may save most. A
/// sample has a smaller heap than the program, so it does not see all that malloc costs.
std::optional<first_step> not_excluded(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> most;
    const auto consider = [&](first_step step) {
        const std::optional<double> share = share_of(step.nanoseconds.high, list);
        if (step.nanoseconds.high <= 0 || share.value_or(1) < threshold::worth_the_change) return;
        step.share = share;
        step.is_certain = false;
        if (!most || step.nanoseconds.high > most->nanoseconds.high) most = std::move(step);
    };
    if (!list.runs && list.malloc_share < 1) {
        for (const preload_saving& each : list.preloads) consider(step_of(each, list));
    }
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        const bool of_sample = each.saving.done && each.saving.replayed_share < 1 && !each.in_runs;
        if (of_sample && each.candidate != verdict::leave) consider(step_of(list, i, paths));
    }
    return most;
}

std::string saving_text(const first_step& step) {
    const std::string range = step.advice ? time_text(step.nanoseconds.low) + " to " + time_text(step.nanoseconds.high)
                                          : time_text(step.nanoseconds.median);
    return range + (step.share ? fmt::format(" ({} of the CPU time)", percent_text(*step.share)) : "");
}

std::string step_text(const first_step& step, bool of_runs) {
    if (step.advice) {
        return fmt::format("number {}, {}: saves {}; {}.", *step.advice + 1, step.what, saving_text(step), step.cost);
    }
    return fmt::format("{}: saves {} in {}; {}.", preload_text(step.what), saving_text(step),
                       of_runs ? "runs of the program" : "a replay", step.cost);
}

std::string not_excluded_text(const first_step& step) {
    const std::string what = step.advice ? fmt::format("number {}, {},", *step.advice + 1, step.what) : step.what;
    const std::string most = time_text(step.nanoseconds.high) +
                             (step.share ? fmt::format(" ({} of the CPU time)", percent_text(*step.share)) : "");
    return fmt::format(
        "Nothing below is sure to save {:.0f} % of the CPU time. But only a sample of the allocations was replayed, "
        "and it "
        "does not exclude that {} saves up to {}: measure it with acre try, or with acre advise --run.",
        threshold::worth_the_change * 100, what, most);
}

}  // namespace

first_steps first_steps_of(const advice_list& list, const call_paths& paths) {
    first_steps found;
    found.is_known = list.malloc_nanoseconds > 0 || list.runs.has_value();
    found.of_runs = list.runs.has_value();
    if (!found.is_known) return found;
    found.replay_exceeds_run = !list.runs && list.replay_exceeds_run();
    if (found.replay_exceeds_run) return found;
    std::optional<first_step> preload = best_preload(list);
    if (preload && !is_worth_it(*preload)) preload.reset();
    const std::optional<first_step> change = best_advice(list, paths);
    if (preload) found.steps.push_back(*preload);
    if (change) found.steps.push_back(*change);
    if (found.steps.empty()) {
        if (const std::optional<first_step> perhaps = best_perhaps(list, paths)) {
            found.steps.push_back(*perhaps);
        } else {
            found.not_excluded = not_excluded(list, paths);
        }
        return found;
    }
    // Each as it was in runs, or as replayed on a clean heap.
    const bool code_first =
        preload && change &&
        list.advices[*change->advice].median_nanoseconds() >= worth_of_code * preload->nanoseconds.median;
    if (code_first) std::swap(found.steps.front(), found.steps.back());
    return found;
}

std::string first_steps_text(const first_steps& of) {
    if (!of.is_known) return {};
    if (of.replay_exceeds_run) {
        return wrapped(
            "What can be saved is not known from a replay: measure it with acre try, or with acre advise --run.", 0,
            110);
    }
    if (of.not_excluded) return wrapped(not_excluded_text(*of.not_excluded), 0, 110);
    if (of.leaves()) {
        return wrapped(
            "Leave the program as it is: no other malloc that is installed here, and no change below, saves " +
                fmt::format("{:.0f} % of its CPU time.", threshold::worth_the_change * 100),
            0, 110);
    }
    std::string text;
    for (const first_step& each : of.steps) {
        const char* begin = !each.is_certain ? "Perhaps: " : text.empty() ? "First: " : "Or: ";
        text += wrapped(begin + step_text(each, of.of_runs), 0, 110);
        if (!each.is_certain) text += wrapped("That is not certain: measure it with acre try before.", 0, 110);
    }
    return text;
}

nlohmann::json first_steps_json(const first_steps& of) {
    if (!of.is_known) return nullptr;
    nlohmann::json steps = nlohmann::json::array();
    for (const first_step& each : of.steps) {
        const interval& saved = each.nanoseconds;
        steps.push_back({{"do", each.advice ? "advice" : "preload"},
                         {"what", each.what},
                         {"advice", each.advice ? nlohmann::json(*each.advice) : nlohmann::json()},
                         {"nanoseconds", {{"low", saved.low}, {"median", saved.median}, {"high", saved.high}}},
                         {"share_of_cpu", each.share ? nlohmann::json(*each.share) : nlohmann::json()},
                         {"certain", each.is_certain},
                         {"cost", each.cost}});
    }
    return steps;
}

}  // namespace acre::tool
