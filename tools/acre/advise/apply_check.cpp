#include "apply_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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

/// The objects of an advice by place.
place_counts places_of(const advice& each, const history& run, const call_paths& paths) {
    place_counts counts;
    for (const std::uint32_t number : each.contexts) {
        const allocation_context& context = run.contexts()[number];
        counts[name_of_place(context, paths)] += context.objects;
    }
    return counts;
}

/// What of a place was in no advice is taken to be there still; what else is left belongs to the advices of the place
/// in the proportion in which they had it.
class places_left {
public:
    places_left(const advice_list& list, const history& before, const call_paths& paths_before, const history& after,
                const call_paths& paths_after)
        : before_{count_places(before, paths_before)}, after_{count_places(after, paths_after)} {
        for (const advice& each : list.advices) {
            for (const auto& [place, objects] : places_of(each, before, paths_before)) advised_[place] += objects;
        }
    }

    double of(const place_name& place, std::uint64_t objects) const {
        const auto found = after_.find(place);
        if (found == after_.end()) return 0;
        const std::uint64_t advised = advised_.at(place);
        const std::uint64_t others = before_.at(place) - advised;
        const auto left = static_cast<double>(found->second - std::min(found->second, others));
        return left * static_cast<double>(objects) / static_cast<double>(advised);
    }

private:
    place_counts before_;
    place_counts after_;
    place_counts advised_;
};

checked_advice check_one(const advice& each, const history& before, const call_paths& paths, const places_left& left) {
    checked_advice result;
    result.objects_before = each.figures.objects;
    double after = 0;
    for (const auto& [place, objects] : places_of(each, before, paths)) after += left.of(place, objects);
    result.objects_after = static_cast<std::uint64_t>(std::llround(after));
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
    const places_left left{list, before, paths_before, after, paths_after};
    bool all_measured = true;
    for (std::size_t i = 0; i < list.advices.size(); ++i) {
        const advice& each = list.advices[i];
        if (each.suits == verdict::leave) continue;
        checked_advice checked = check_one(each, before, paths_before, left);
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
