#include "apply_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "thresholds.hpp"

namespace acre::tool {

namespace {

/// The function that allocates and the one that calls it, by the names that a change of their parameters leaves alone.
using place_name = std::pair<std::string, std::string>;

place_name name_of_place(const allocation_context& context, const call_paths& paths) {
    const std::uint32_t node = paths.own_code(context.node);
    const std::uint32_t caller = paths.own_code(paths.nodes()[node].parent);
    const auto name = [&](std::uint32_t number) {
        return paths.functions()[paths.nodes()[number].function].short_name;
    };
    return {name(node), name(caller)};
}

using place_counts = std::map<place_name, std::uint64_t>;

place_counts count_places(const history& run, const call_paths& paths) {
    place_counts counts;
    for (const allocation_context& context : run.contexts()) counts[name_of_place(context, paths)] += context.objects;
    return counts;
}

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

/// Places that several advices share belong to the one that comes first, and all their objects with them.
checked_advice check_one(const advice& each, const history& before, const call_paths& paths,
                         const place_counts& all_before, place_counts& left_after) {
    checked_advice result;
    std::set<place_name> places;
    for (const std::uint32_t context : each.contexts) {
        places.insert(name_of_place(before.contexts()[context], paths));
    }
    result.objects_before = each.figures.objects;
    for (const place_name& place : places) {
        const auto found = left_after.find(place);
        if (found == left_after.end()) continue;
        // What of the place was not in the advice is taken to be there still.
        result.objects_after += found->second;
        left_after.erase(found);
    }
    std::uint64_t in_places = 0;
    for (const place_name& place : places) in_places += all_before.at(place);
    const std::uint64_t others = in_places - std::min(in_places, result.objects_before);
    result.objects_after -= std::min(result.objects_after, others);
    result.state = state_of(result.gone_share());
    return result;
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

apply_check check_application(const advice_list& list, const history& before, const call_paths& paths_before,
                              const history& after, const call_paths& paths_after, std::optional<cpu_times> cpu) {
    apply_check result;
    result.objects_before = before.object_count();
    result.objects_after = after.object_count();
    result.cpu = cpu;
    const place_counts all_before = count_places(before, paths_before);
    place_counts left_after = count_places(after, paths_after);
    bool all_measured = true;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.suits == verdict::leave) continue;
        checked_advice checked = check_one(each, before, paths_before, all_before, left_after);
        checked.number = i;
        if (checked.state != follow_up::not_applied) {
            all_measured = all_measured && each.saving.done;
            if (each.saving.done) checked.predicted = scaled(each.saving.expected(), checked.gone_share());
            add(result.predicted, checked.predicted);
        }
        result.advices.push_back(checked);
    }
    if (cpu && result.followed() != 0 && all_measured) result.outcome = compare(cpu->saved(), result.predicted);
    return result;
}

}  // namespace acre::tool
