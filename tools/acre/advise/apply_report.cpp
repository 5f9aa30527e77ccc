#include "apply_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

const char* words_of(follow_up state) {
    switch (state) {
        case follow_up::applied:
            return "followed";
        case follow_up::in_part:
            return "followed in part";
        case follow_up::not_applied:
            return "not followed";
    }
    return "";
}

/// The title of what suits, also where it was not worth it.
std::string title_of_suited(const advice& each, const call_paths& paths) {
    advice suited = each;
    suited.says = each.suits;
    return title_of(suited, paths);
}

std::string range_text(const interval& of) {
    return fmt::format("{} to {}", time_text(of.low), time_text(of.high));
}

std::string entry_text(const checked_advice& each, const advice& of, const call_paths& paths) {
    std::string text = fmt::format("{}. {}: {}\n", each.number + 1, title_of_suited(of, paths), words_of(each.state));
    text += fmt::format("   allocations  {} before, {} after ({} gone)\n", count_text(each.objects_before),
                        count_text(each.objects_after), percent_text(each.gone_share()));
    if (each.state != follow_up::not_applied && of.saving.done) {
        text += fmt::format("   predicted    {} less CPU time for what is gone\n", range_text(each.predicted));
    }
    return text;
}

std::string outcome_text(const apply_check& check) {
    if (check.followed() == 0) return "No advice was followed: nothing was predicted for this change.\n";
    if (!check.cpu) {
        return "The CPU times are not known: give them with --cpu-before and --cpu-after, in seconds.\n";
    }
    std::string text = fmt::format("CPU time: {} before, {} after, {} saved", time_text(check.cpu->before),
                                   time_text(check.cpu->after), time_text(check.cpu->saved()));
    switch (check.outcome) {
        case prediction_outcome::below:
            text += fmt::format("; {} were predicted: the prediction did not hold.", range_text(check.predicted));
            break;
        case prediction_outcome::inside:
            text += fmt::format("; {} were predicted: it held.", range_text(check.predicted));
            break;
        case prediction_outcome::above:
            text += fmt::format(
                "; at least {} were predicted: more was obtained, as destructors that need not run and "
                "data that lies closer together are not in a replay.",
                range_text(check.predicted));
            break;
        case prediction_outcome::unknown:
            text += "; what was followed could not be measured, so nothing was predicted.";
            break;
    }
    if (check.cpu->recorded) {
        text +=
            " These are times of recorded runs, less what the recording took by estimate: to be sure, run both without "
            "it "
            "and give their times with --cpu-before and --cpu-after.";
    }
    return wrapped(text, 0, 110);
}

nlohmann::json interval_json(const interval& of) {
    return {{"low", of.low}, {"median", of.median}, {"high", of.high}};
}

}  // namespace

std::string apply_text(const apply_check& check, const advice_list& list, const call_paths& paths) {
    std::string text = fmt::format("{} before, {} after\n\n", plural(check.objects_before, "allocation", "allocations"),
                                   count_text(check.objects_after));
    for (const checked_advice& each : check.advices) text += entry_text(each, list.advices[each.number], paths) + "\n";
    return text + outcome_text(check);
}

nlohmann::json apply_json(const apply_check& check, const advice_list& list, const call_paths& paths) {
    nlohmann::json advices = nlohmann::json::array();
    for (const checked_advice& each : check.advices) {
        const advice& of = list.advices[each.number];
        const bool predicted = each.state != follow_up::not_applied && of.saving.done;
        advices.push_back({{"title", title_of_suited(of, paths)},
                           {"subject", paths.functions()[of.function].short_name},
                           {"suits", name_of(of.suits)},
                           {"verdict", name_of(of.says)},
                           {"state", name_of(each.state)},
                           {"allocations_before", each.objects_before},
                           {"allocations_after", each.objects_after},
                           {"predicted_ns", predicted ? interval_json(each.predicted) : nlohmann::json()}});
    }
    nlohmann::json cpu;
    if (check.cpu) {
        cpu = {{"before_ns", check.cpu->before},
               {"after_ns", check.cpu->after},
               {"saved_ns", check.cpu->saved()},
               {"of_recorded_runs", check.cpu->recorded}};
    }
    return {{"allocations_before", check.objects_before},
            {"allocations_after", check.objects_after},
            {"advices", advices},
            {"followed", check.followed()},
            {"predicted_ns", interval_json(check.predicted)},
            {"cpu", cpu},
            {"outcome", name_of(check.outcome)},
            {"held", check.held()}};
}

}  // namespace acre::tool
