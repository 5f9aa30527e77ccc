#include "apply_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "rules.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

/// The allocating function and its caller, by names without parameters, which a change may alter, and the class,
/// container or size that is allocated, as far as it is known.
using site_name = std::tuple<std::string, std::string, std::string>;
using site_counts = std::map<site_name, std::uint64_t>;

/// The sites of a run. They can be told apart by what they allocate only if both runs tell it.
class named_sites {
public:
    named_sites(const history& run, const call_paths& paths) : run_{run}, paths_{paths}, places_{run, paths} {}

    bool tell_what_they_allocate() const {
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!what_is_allocated(i).empty()) return true;
        }
        return false;
    }
    void forget_what_they_allocate() { with_what_ = false; }

    site_counts count() const {
        site_counts counts;
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) counts[name(i)] += run_.contexts()[i].objects;
        return counts;
    }
    /// The objects of an advice by site.
    site_counts count(const advice& each) const {
        site_counts counts;
        for (const std::uint32_t i : each.contexts) counts[name(i)] += run_.contexts()[i].objects;
        return counts;
    }

private:
    /// An object of a `new` expression whose class is not known is told by its size.
    std::string what_is_allocated(std::uint32_t context) const {
        const change_place& place = places_.of(context);
        const allocation_context& of = run_.contexts()[context];
        if (place.kind == place_kind::hook) return {};
        if (place.name.empty() && of.by_new && of.smallest == of.largest) return fmt::format("{} bytes", of.largest);
        return place.name;
    }
    site_name name(std::uint32_t context) const {
        const std::uint32_t node = paths_.own_code(run_.contexts()[context].node);
        const std::uint32_t caller = paths_.own_code(paths_.nodes()[node].parent);
        const auto function = [&](std::uint32_t number) {
            return paths_.functions()[paths_.nodes()[number].function].short_name;
        };
        return {function(node), function(caller), with_what_ ? what_is_allocated(context) : ""};
    }

    const history& run_;
    const call_paths& paths_;
    change_places places_;
    bool with_what_ = true;
};

interval scaled(const interval& of, double by) {
    return {of.low * by, of.median * by, of.high * by};
}

void add(interval& to, const interval& more) {
    to = {to.low + more.low, to.median + more.median, to.high + more.high};
}

follow_up state_of(double gone) {
    if (gone >= threshold::applied) return follow_up::applied;
    return gone > 1 - threshold::applied ? follow_up::in_part : follow_up::not_applied;
}

prediction_outcome compare(double obtained, const interval& predicted) {
    if (obtained < predicted.low) return prediction_outcome::below;
    return obtained > predicted.high ? prediction_outcome::above : prediction_outcome::inside;
}

/// How many objects of an advice are still allocated. Objects of a site that were in no advice are assumed to remain;
/// the rest is divided among the site's advices in proportion. What a function allocates under no name that it had
/// before stands for what is gone there: a class whose objects its pool could not take has another name afterwards.
class remaining_objects {
public:
    remaining_objects(const advice_list& list, const named_sites& before, const named_sites& after)
        : before_{before.count()}, after_{after.count()} {
        for (const advice& each : list.advices) {
            for (const auto& [site, objects] : before.count(each)) advised_[site] += objects;
        }
        for (const auto& [site, objects] : after_) {
            if (!before_.contains(site)) renamed_[functions_of(site)] += static_cast<double>(objects);
        }
        for (const auto& [site, objects] : advised_) gone_[functions_of(site)] += gone(site);
    }

    double of(const site_name& site, std::uint64_t objects) const {
        const double remaining = static_cast<double>(advised_.at(site)) - gone(site) + renamed(site);
        return remaining * static_cast<double>(objects) / static_cast<double>(advised_.at(site));
    }

private:
    using functions = std::pair<std::string, std::string>;

    static functions functions_of(const site_name& site) { return {std::get<0>(site), std::get<1>(site)}; }

    /// The advised objects that no site of this name allocates any more.
    double gone(const site_name& site) const {
        const std::uint64_t advised = advised_.at(site);
        const auto found = after_.find(site);
        if (found == after_.end()) return static_cast<double>(advised);
        const std::uint64_t others = before_.at(site) - advised;
        return static_cast<double>(advised - std::min(advised, found->second - std::min(found->second, others)));
    }

    /// Of these what the functions allocate under another name.
    double renamed(const site_name& site) const {
        const auto found = renamed_.find(functions_of(site));
        if (found == renamed_.end()) return 0;
        const double all = gone_.at(functions_of(site));
        return all == 0 ? 0 : gone(site) * std::min(found->second / all, 1.0);
    }

    site_counts before_;
    site_counts after_;
    site_counts advised_;
    std::map<functions, double> renamed_;  // objects after the change, of names that are new
    std::map<functions, double> gone_;     // advised objects, of names that are not there any more
};

/// "scene::Light in build", or the function alone.
std::string words_of(const site_name& site) {
    const auto& [function, caller, what] = site;
    return what.empty() ? function : what + " in " + function;
}

/// Of what was to go. Of a container to reserve one buffer stays.
double share_that_went(const advice& each, const checked_advice& found) {
    if (each.candidate != verdict::reserve || !each.growth || each.growth->replaced == 0) return found.gone_share();
    const double went = static_cast<double>(found.objects_before) - static_cast<double>(found.objects_after);
    return std::clamp(went / static_cast<double>(each.growth->replaced), 0.0, 1.0);
}

checked_advice check_one(const advice& each, const named_sites& before, const remaining_objects& remaining) {
    checked_advice result;
    result.objects_before = each.figures.objects;
    double after = 0;
    double most = 0;
    for (const auto& [site, objects] : before.count(each)) {
        const double remains = remaining.of(site, objects);
        after += remains;
        if (remains <= most) continue;
        most = remains;
        result.most_remain = words_of(site);
    }
    result.objects_after = static_cast<std::uint64_t>(std::llround(after));
    result.state = state_of(share_that_went(each, result));
    return result;
}

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

std::string range_text(const interval& of) {
    return fmt::format("{} to {}", time_text(of.low), time_text(of.high));
}

std::string entry_text(const checked_advice& each, const advice& of, const call_paths& paths) {
    std::string text =
        fmt::format("{}. {}: {}\n", each.number + 1, title_of(of.candidate, of, paths), words_of(each.state));
    text += fmt::format("   allocations  {} before, {} after ({} gone)\n", count_text(each.objects_before),
                        count_text(each.objects_after), percent_text(each.gone_share()));
    if (each.state == follow_up::in_part && !each.most_remain.empty())
        text += fmt::format("   remaining    mostly {}\n", each.most_remain);
    if (each.state != follow_up::not_applied && of.saving.done) {
        text += fmt::format("   predicted    {} less CPU time for the allocations that are gone\n",
                            range_text(each.predicted));
    }
    return text;
}

std::string outcome_text(const apply_check& check) {
    if (check.followed() == 0) return "No advice was followed, so nothing was predicted for this change.\n";
    if (!check.cpu) {
        return "The CPU times are not known: give them with --cpu-before and --cpu-after, in seconds.\n";
    }
    std::string text = fmt::format("CPU time: {} before, {} after, {} saved", time_text(check.cpu->before),
                                   time_text(check.cpu->after), time_text(check.cpu->saved()));
    switch (check.outcome) {
        case prediction_outcome::below:
            text += fmt::format("; predicted were {}: the prediction did not hold.", range_text(check.predicted));
            break;
        case prediction_outcome::inside:
            text += fmt::format("; predicted were {}: the prediction held.", range_text(check.predicted));
            break;
        case prediction_outcome::above:
            text += fmt::format("; predicted were {}: more was saved, as a replay does not show {}.",
                                range_text(check.predicted),
                                check.in_threads ? "what threads cost each other in malloc, skipped destructors and "
                                                   "better locality"
                                                 : "skipped destructors and better locality");
            break;
        case prediction_outcome::unknown:
            text += "; the followed advices could not be measured, so nothing was predicted.";
            break;
    }
    if (check.cpu->recorded) {
        text +=
            " These are the times of recorded runs minus an estimate for the recording. For exact times run both "
            "without recording, and give their times with --cpu-before and --cpu-after.";
    }
    return wrapped(text, 0, 110);
}

std::string memory_text(const apply_check& check) {
    std::string text = fmt::format("Memory: at most {} live at a time before, {} after.",
                                   bytes_text(check.peak_bytes_before), bytes_text(check.peak_bytes_after));
    if (check.followed() != 0 && check.takes_far_more()) {
        text +=
            " That is far more. Is an arena never reset? A resource that is declared static in a header is another one "
            "in each source file: declare it inline there, in C extern.";
    }
    if (check.followed() != 0)
        text += " What acre's resources take from the system themselves is not in these figures.";
    return wrapped(text, 0, 110);
}

std::uint64_t peak_bytes_of(const history& run) {
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
    run.for_each([&](const recorded_event& each) {
        live = each.allocates ? live + each.size : live - each.size;
        peak = std::max(peak, live);
    });
    return peak;
}

nlohmann::json json_of(const interval& of) {
    return {{"low", of.low}, {"median", of.median}, {"high", of.high}};
}

}  // namespace

const char* name_of(follow_up state) {
    switch (state) {
        case follow_up::applied:
            return "applied";
        case follow_up::in_part:
            return "in_part";
        case follow_up::not_applied:
            return "not_applied";
    }
    return "not_applied";
}

const char* name_of(prediction_outcome outcome) {
    switch (outcome) {
        case prediction_outcome::below:
            return "below";
        case prediction_outcome::inside:
            return "inside";
        case prediction_outcome::above:
            return "above";
        case prediction_outcome::unknown:
            return "unknown";
    }
    return "unknown";
}

std::size_t apply_check::followed() const {
    return static_cast<std::size_t>(std::count_if(advices.begin(), advices.end(), [](const checked_advice& each) {
        return each.state != follow_up::not_applied;
    }));
}

bool apply_check::takes_far_more() const noexcept {
    constexpr std::uint64_t usual = std::uint64_t{1} << 20;  // a few blocks of each arena
    return peak_bytes_after > 2 * peak_bytes_before + usual;
}

bool have_common_functions(const call_paths& before, const call_paths& after) {
    const auto own_functions = [](const call_paths& paths) {
        std::set<std::string> names;
        for (std::uint32_t node = 1; node < paths.nodes().size(); ++node) {
            const std::string& name = paths.functions()[paths.nodes()[node].function].short_name;
            if (paths.own_code(node) == node && name != "main" && name != "_start") names.insert(name);
        }
        return names;
    };
    const std::set<std::string> names = own_functions(before);
    return std::ranges::any_of(own_functions(after), [&](const std::string& each) { return names.contains(each); });
}

apply_check check_application(const advice_list& list, const history& before, const call_paths& paths_before,
                              const history& after, const call_paths& paths_after, std::optional<cpu_times> cpu) {
    apply_check result;
    result.objects_before = before.object_count();
    result.objects_after = after.object_count();
    result.peak_bytes_before = peak_bytes_of(before);
    result.peak_bytes_after = peak_bytes_of(after);
    result.cpu = cpu;
    named_sites sites_before{before, paths_before};
    named_sites sites_after{after, paths_after};
    if (!sites_before.tell_what_they_allocate() || !sites_after.tell_what_they_allocate()) {
        sites_before.forget_what_they_allocate();
        sites_after.forget_what_they_allocate();
    }
    const remaining_objects remaining{list, sites_before, sites_after};
    bool all_measured = true;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.candidate == verdict::leave) continue;
        checked_advice checked = check_one(each, sites_before, remaining);
        checked.number = i;
        // What was left is worth a line only to one who followed it all the same.
        if (each.decision == verdict::leave && checked.state == follow_up::not_applied) continue;
        if (checked.state != follow_up::not_applied) {
            all_measured = all_measured && each.saving.done;
            result.in_threads = result.in_threads || each.figures.threads > 1 || each.figures.freed_elsewhere != 0;
            if (each.saving.done) checked.predicted = scaled(each.saving.expected(), checked.gone_share());
            add(result.predicted, checked.predicted);
        }
        result.advices.push_back(checked);
    }
    if (cpu && result.followed() != 0 && all_measured) result.outcome = compare(cpu->saved(), result.predicted);
    return result;
}

std::string apply_text(const apply_check& check, const advice_list& list, const call_paths& paths) {
    std::string text = fmt::format("{} before, {} after\n\n", plural(check.objects_before, "allocation", "allocations"),
                                   count_text(check.objects_after));
    for (const checked_advice& each : check.advices) text += entry_text(each, list.advices[each.number], paths) + "\n";
    return text + outcome_text(check) + memory_text(check);
}

nlohmann::json apply_json(const apply_check& check, const advice_list& list, const call_paths& paths) {
    nlohmann::json advices = nlohmann::json::array();
    for (const checked_advice& each : check.advices) {
        const advice& of = list.advices[each.number];
        const bool predicted = each.state != follow_up::not_applied && of.saving.done;
        advices.push_back({{"title", title_of(of.candidate, of, paths)},
                           {"subject", paths.functions()[of.function].short_name},
                           {"candidate", name_of(of.candidate)},
                           {"verdict", name_of(of.decision)},
                           {"state", name_of(each.state)},
                           {"allocations_before", each.objects_before},
                           {"allocations_after", each.objects_after},
                           {"most_remain", each.most_remain},
                           {"predicted_ns", predicted ? json_of(each.predicted) : nlohmann::json()}});
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
            {"peak_bytes_before", check.peak_bytes_before},
            {"peak_bytes_after", check.peak_bytes_after},
            {"advices", advices},
            {"followed", check.followed()},
            {"predicted_ns", json_of(check.predicted)},
            {"cpu", cpu},
            {"outcome", name_of(check.outcome)},
            {"held", check.held()}};
}

}  // namespace acre::tool
