#include "first_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "malloc_callers.hpp"
#include "rules.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

// A change of the code must save this many times what a malloc saves that only needs to be preloaded.
constexpr double worth_of_code = 1.25;

// With fewer rounds nothing is known about the noise.
constexpr std::size_t rounds_to_rely_on = 3;

// Of the CPU time. Where something may save as much, the answer is not to leave the program.
constexpr double too_much_to_leave = 0.05;

bool has_enough_rounds(const advice_list& list) {
    return list.runs && list.runs->rounds >= rounds_to_rely_on;
}

std::optional<double> share_of(double nanoseconds, const advice_list& list) {
    if (list.cpu_nanoseconds == 0) return std::nullopt;
    return nanoseconds / static_cast<double>(list.cpu_nanoseconds);
}

first_step step_of(const preload_saving& each, const advice_list& list) {
    first_step step;
    step.what = each.name;
    step.nanoseconds = list.expected_of(each);
    step.cpu_nanoseconds = static_cast<double>(list.cpu_nanoseconds);
    step.share = share_of(each.nanoseconds.median, list);
    step.before_command = each.before_command;
    step.cost = "no change to the code";
    if (!each.before_command.empty()) step.cost += fmt::format(", '{}' before its command", each.before_command);
    step.is_certain = has_enough_rounds(list);
    if (each.peak_ratio) step.cost += fmt::format("; {:.2f} times the memory at the peak", *each.peak_ratio);
    return step;
}

/// The malloc that saves most by its median; none: no other is known.
const preload_saving* best_preload(const advice_list& list) {
    const auto saved = [](const preload_saving& each) { return each.nanoseconds.median; };
    const auto best = std::ranges::max_element(list.preloads, {}, saved);
    return best == list.preloads.end() ? nullptr : &*best;
}

/// By the runs or the replay, as they were measured.
bool is_worth_it(const preload_saving& each, const advice_list& list) {
    const std::optional<double> share = share_of(each.nanoseconds.median, list);
    return each.nanoseconds.low > 0 && share.value_or(1) >= threshold::worth_the_change;
}

std::string cost_of(const advice& each, const call_paths& paths) {
    std::set<std::string> files;
    std::string text;
    if (has_hook_of_acre(each.place)) {
        text = "one place";
    } else if (each.malloc_callers.empty()) {
        for (const site_objects& site : each.sites) files.insert(paths.sites()[site.site].file);
        text = plural(each.sites.size(), "site", "sites");
    } else {
        const auto functions = direct_callers(each.malloc_callers);
        for (const malloc_caller& of : functions) files.insert(of.at.file);
        if (!functions.empty()) text = plural(functions.size(), "function", "functions");
    }
    if (files.size() > 1) text += fmt::format(" in {}", plural(files.size(), "file", "files"));
    if (!pointer_callers(each.malloc_callers).empty())
        text += fmt::format("{}pointers to malloc or free", text.empty() ? "" : " and ");
    text += " to change";
    if (each.is_known_by_runs())
        return text + fmt::format("; {:.2f} times the memory at the peak", each.in_runs->peak_ratio);
    if (!each.saving.done) return text;
    const std::string candidate = bytes_text(each.saving.candidate_peak_bytes);
    const std::string system = bytes_text(each.saving.system_peak_bytes);
    if (candidate == system) return text + "; as much memory at the peak";
    return text + fmt::format("; these take {} at the peak instead of {}", candidate, system);
}

first_step step_of(const advice_list& list, std::size_t number, const call_paths& paths) {
    const advice& each = list.advices[number];
    return {.advice = number,
            .what = title_of(each.candidate, each, paths),
            .nanoseconds = each.expected_nanoseconds(),
            .is_open = !each.is_known_by_runs() && each.saving.is_open(),
            .share = share_of(each.median_nanoseconds(), list),
            .cpu_nanoseconds = static_cast<double>(list.cpu_nanoseconds),
            .cost = cost_of(each, paths),
            .is_certain = !each.in_runs ||
                          (each.in_runs->has_enough_rounds() && (!each.is_known_by_runs() || has_enough_rounds(list))),
            .is_of_replay = !each.is_known_by_runs()};
}

bool is_worth_it(const advice& each, const advice_list& list) {
    if (each.decision == verdict::leave || !(each.saving.done || each.in_runs)) return false;
    if (each.is_known_by_runs() && each.in_runs->nanoseconds.low <= 0) return false;  // runs do not exclude a loss
    // Of a run that took far longer than usual, or of one thread of many.
    return share_of(each.expected_nanoseconds().high, list).value_or(1) >= threshold::worth_the_change;
}

/// What all changes that are worth it save, if that is noticeably more than this one of them does.
std::optional<all_changes> changes_together(const advice_list& list, const first_step& one) {
    constexpr double noticeably = 1.1;
    const auto cpu = static_cast<double>(list.cpu_nanoseconds);
    all_changes all;
    all.cpu_nanoseconds = cpu;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (!is_worth_it(each, list)) continue;
        const interval saved = each.expected_nanoseconds();
        all.nanoseconds = {all.nanoseconds.low + saved.low, all.nanoseconds.median + saved.median,
                           all.nanoseconds.high + saved.high};
        all.is_of_replay = all.is_of_replay || !each.is_known_by_runs();
        all.advices.push_back(i);
    }
    if (cpu > 0) all.nanoseconds.high = std::max(std::min(all.nanoseconds.high, cpu), all.nanoseconds.low);
    if (all.advices.size() < 2 || all.nanoseconds.low <= 0) return std::nullopt;
    if (all.nanoseconds.median < noticeably * one.nanoseconds.median) return std::nullopt;
    return all;
}

std::optional<first_step> best_advice(const advice_list& list, const call_paths& paths) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        if (!is_worth_it(list.advices[i], list)) continue;
        if (!best || comes_before(list.advices[i], list.advices[*best])) best = i;
    }
    return best ? std::optional{step_of(list, *best, paths)} : std::nullopt;
}

/// A change whose runs do not exclude a loss, but saved much in their median: not to be left untold beside a preload.
std::optional<first_step> uncertain_change(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> best;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.decision == verdict::leave || !each.is_known_by_runs()) continue;
        const double saved = each.in_runs->nanoseconds.median;
        if (share_of(saved, list).value_or(0) < too_much_to_leave) continue;
        if (best && saved <= best->nanoseconds.median) continue;
        best = step_of(list, i, paths);
        best->is_certain = false;
    }
    return best;
}

/// To allocate less comes first. Another change of the code must save more than a malloc that only has to be preloaded.
bool goes_before(const advice& change, const preload_saving& preload) {
    return allocates_less(change) || change.median_nanoseconds() >= worth_of_code * preload.nanoseconds.median;
}

/// What no code is needed for, and saves as much in the runs as the best change of the code, although so few rounds do
/// not exclude that it saves nothing.
std::optional<first_step> preload_instead(const advice_list& list, const first_step& change) {
    const preload_saving* preload = best_preload(list);
    if (!list.runs || preload == nullptr || is_worth_it(*preload, list)) return std::nullopt;
    const double saved = preload->nanoseconds.median;
    if (share_of(saved, list).value_or(0) < too_much_to_leave) return std::nullopt;
    if (goes_before(list.advices[*change.advice], *preload)) return std::nullopt;
    first_step step = step_of(*preload, list);
    step.is_certain = false;
    return step;
}

/// What may save much, or is advised, although the measurement does not exclude that it saves nothing, or only a part
/// of it was seen on a clean heap.
std::optional<first_step> best_perhaps(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> best;
    const auto consider = [&](first_step step, bool is_advised = false) {
        step.share = share_of(step.nanoseconds.median, list);
        step.is_certain = false;
        if (!step.share || *step.share < (is_advised ? threshold::worth_the_change : too_much_to_leave)) return;
        const double worth = best && !best->advice ? worth_of_code : 1;
        if (!best || step.nanoseconds.median > worth * best->nanoseconds.median) best = std::move(step);
    };
    if (const preload_saving* preload = best_preload(list)) consider(step_of(*preload, list));
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (!(each.saving.done || each.in_runs) || each.candidate == verdict::leave) continue;
        if (allocates_less(each) && each.expected_nanoseconds().low <= 0) continue;
        consider(step_of(list, i, paths), each.decision != verdict::leave);
    }
    return best;
}

/// What is not worth it by a replay, with an interval that does not exclude that it is: what may save most. A replay
/// does not see what a malloc does to the program's own accesses; a sample has a smaller heap besides.
std::optional<first_step> not_excluded(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> most;
    const auto consider = [&](first_step step) {
        const std::optional<double> share = share_of(step.nanoseconds.high, list);
        if (step.nanoseconds.high <= 0 || share.value_or(1) < threshold::worth_the_change) return;
        step.share = share;
        step.is_certain = false;
        if (!most || step.nanoseconds.high > most->nanoseconds.high) most = std::move(step);
    };
    if (!list.runs && (list.cpu_nanoseconds != 0 || list.malloc_share < 1)) {
        for (const preload_saving& each : list.preloads) consider(step_of(each, list));
    }
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        const bool of_sample =
            each.saving.done && each.saving.replayed_share < 1 && !(each.in_runs && each.in_runs->has_enough_rounds());
        if (of_sample && each.candidate != verdict::leave) consider(step_of(list, i, paths));
    }
    return most;
}

/// What runs do not exclude to save much, because they differ too much: of these what saved most in the median.
std::optional<first_step> not_excluded_by_runs(const advice_list& list, const call_paths& paths) {
    std::optional<first_step> most;
    const auto consider = [&](first_step step) {
        step.share = share_of(step.nanoseconds.high, list);
        step.is_certain = false;
        if (step.share.value_or(0) < too_much_to_leave) return;
        if (!most || step.nanoseconds.median > most->nanoseconds.median) most = std::move(step);
    };
    for (const preload_saving& each : list.preloads) consider(step_of(each, list));
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.candidate != verdict::leave && each.is_known_by_runs()) consider(step_of(list, i, paths));
    }
    return most;
}

std::string share_text(const first_step& step) {
    return step.share ? fmt::format(" ({} of the CPU time)", percent_text(*step.share)) : "";
}

/// With its interval. What a replay says of a malloc has bounds that are far wider: the text further below tells them.
std::string measured_share_text(const first_step& step) {
    const std::string shares = shares_text(step.nanoseconds, false, step.cpu_nanoseconds);
    if (!step.share || shares == percent_text(*step.share)) return share_text(step);
    return fmt::format(" ({} of the CPU time; {})", percent_text(*step.share), shares);
}

std::string step_text(const first_step& step, bool of_runs) {
    const interval& saved = step.nanoseconds;
    if (step.advice) {
        const std::string shares = shares_text(saved, step.is_open, step.cpu_nanoseconds);
        return fmt::format("number {}, {}: {}{}{}{}; {}.", *step.advice + 1, step.what, saved.low < 0 ? "" : "saves ",
                           saved_text(saved, step.is_open),
                           step.cpu_nanoseconds > 0 ? " (" + shares + " of the CPU time)" : "",
                           of_runs && step.is_of_replay ? " in a replay" : "", step.cost);
    }
    return fmt::format("{}: saves {}{} in {}; {}.", preload_text(step.what), time_text(saved.median),
                       of_runs ? measured_share_text(step) : share_text(step),
                       of_runs ? "runs of the program" : "a replay", step.cost);
}

std::string together_text(const all_changes& all, bool of_runs) {
    std::vector<std::size_t> numbers;
    numbers.reserve(all.advices.size());
    for (const std::size_t each : all.advices) numbers.push_back(each + 1);
    const bool is_open = all.cpu_nanoseconds > 0 && all.nanoseconds.high >= all.cpu_nanoseconds;
    const std::string share =
        all.cpu_nanoseconds > 0
            ? fmt::format(" ({} of the CPU time)", shares_text(all.nanoseconds, is_open, all.cpu_nanoseconds))
            : "";
    return fmt::format("Together: numbers {} and {} save {}{}{}.", fmt::join(numbers.begin(), numbers.end() - 1, ", "),
                       numbers.back(), saved_text(all.nanoseconds, is_open), share,
                       of_runs && all.is_of_replay ? ", in part in a replay" : "");
}

const char* how_to_be_certain(const first_step& step, bool of_runs) {
    if (!step.advice) return "That is not certain: measure it with acre try before.";
    return of_runs ? "That is not certain: give --run more time before you change the code."
                   : "That is not certain: measure it with acre advise --run before you change the code.";
}

std::string not_excluded_text(const first_step& step, bool of_runs) {
    const std::string what =
        step.advice ? fmt::format("number {}, {},", *step.advice + 1, step.what) : way_text(step.what);
    if (of_runs) {
        return fmt::format(
            "Nothing below is sure to save {:.0f} % of the CPU time. But the runs differ too much to exclude that {} "
            "saves up to {}{}: give --run more time, with little else running.",
            threshold::worth_the_change * 100, what, time_text(step.nanoseconds.high), share_text(step));
    }
    const char* why = step.advice ? "only a sample of the allocations was replayed, and it does"
                                  : "a replay sees neither where data lies nor page faults: it does";
    return fmt::format(
        "Nothing below is sure to save {:.0f} % of the CPU time. But {} not exclude that {} saves up to {}{}: measure "
        "it with acre try, or with acre advise --run.",
        threshold::worth_the_change * 100, why, what, time_text(step.nanoseconds.high), share_text(step));
}

}  // namespace

std::string preload_text(const std::string& name) {
    if (name == preload_saving::acre_heap) return "start it by acre run";
    if (name == preload_saving::acre_plan)
        return "start it by acre run with the plan that acre plan -o writes of this trace";
    return "preload " + name;
}

first_steps first_steps_of(const advice_list& list, const call_paths& paths) {
    first_steps found;
    found.is_known = list.malloc_nanoseconds > 0 || list.runs.has_value();
    found.of_runs = list.runs.has_value();
    found.has_few_rounds = found.of_runs && !has_enough_rounds(list);
    if (!found.is_known) return found;
    found.untold = list.untold;
    found.replay_exceeds_run = !list.runs && list.replay_exceeds_run();
    if (found.replay_exceeds_run) return found;
    const preload_saving* preload = best_preload(list);
    if (preload != nullptr && !is_worth_it(*preload, list)) preload = nullptr;
    const std::optional<first_step> change = best_advice(list, paths);
    if (preload != nullptr) found.steps.push_back(step_of(*preload, list));
    if (change) {
        if (const std::optional<first_step> instead = preload_instead(list, *change)) found.steps.push_back(*instead);
    }
    if (change) {
        found.steps.push_back(*change);
        found.together = changes_together(list, *change);
    }
    if (!change && preload != nullptr) {
        if (const std::optional<first_step> uncertain = uncertain_change(list, paths))
            found.steps.push_back(*uncertain);
    }
    if (found.steps.empty()) {
        if (const std::optional<first_step> perhaps = best_perhaps(list, paths)) {
            found.steps.push_back(*perhaps);
        } else {
            found.not_excluded = not_excluded(list, paths);
            if (!found.not_excluded && has_enough_rounds(list)) found.not_excluded = not_excluded_by_runs(list, paths);
        }
        return found;
    }
    // Each as it was in runs, or as replayed on a clean heap.
    if (preload != nullptr && change && goes_before(list.advices[*change->advice], *preload))
        std::swap(found.steps.front(), found.steps.back());
    return found;
}

std::vector<std::string> first_steps_sentences(const first_steps& of) {
    if (!of.is_known) return {};
    if (of.replay_exceeds_run)
        return {"What can be saved is not known from a replay: measure it with acre try, or with acre advise --run."};
    if (of.not_excluded) return {not_excluded_text(*of.not_excluded, of.of_runs && !of.not_excluded->is_of_replay)};
    if (of.steps.empty() && of.has_few_rounds) {
        return {"Nothing saved " + fmt::format("{:.0f} %", threshold::worth_the_change * 100) +
                " of the CPU time in these runs, but so few rounds do not exclude chance: give --run more time."};
    }
    if (of.steps.empty() && !of.untold.empty()) {
        return {fmt::format("Nothing below saves {:.0f} % of the CPU time. ", threshold::worth_the_change * 100) +
                untold_text(of.untold) + ": measure it with acre try, or with acre advise --run."};
    }
    if (of.leaves()) {
        return {"Leave the program as it is: no other malloc that is installed here, and no change below, saves " +
                fmt::format("{:.0f} % of its CPU time.", threshold::worth_the_change * 100)};
    }
    std::vector<std::string> sentences;
    for (const first_step& each : of.steps) {
        const char* begin = !each.is_certain ? "Perhaps: " : sentences.empty() ? "First: " : "Or: ";
        sentences.push_back(begin + step_text(each, of.of_runs));
        if (!each.is_certain) sentences.emplace_back(how_to_be_certain(each, of.of_runs));
    }
    if (of.together) sentences.push_back(together_text(*of.together, of.of_runs));
    return sentences;
}

std::string first_steps_text(const first_steps& of) {
    std::string text;
    for (const std::string& each : first_steps_sentences(of)) text += wrapped(each, 0, 110);
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
                         {"before_command", each.before_command},
                         {"cost", each.cost}});
    }
    return steps;
}

nlohmann::json together_json(const first_steps& of) {
    if (!of.together) return nullptr;
    const interval& saved = of.together->nanoseconds;
    return {{"advices", of.together->advices},
            {"nanoseconds", {{"low", saved.low}, {"median", saved.median}, {"high", saved.high}}},
            {"of_replay", of.together->is_of_replay}};
}

}  // namespace acre::tool
