#include "heap_in_c.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "advice_code.hpp"
#include "joined_advice.hpp"
#include "joined_sets.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

/// An arena that is freed as a whole stays one where it has more objects than all that would use the heap.
void leave_out_large_arenas(std::vector<const advice*>& parts) {
    const auto is_arena = [](const advice* each) { return each->candidate == verdict::phase_arena; };
    std::uint64_t in_arenas = 0;
    std::uint64_t others = 0;
    for (const advice* each : parts) (is_arena(each) ? in_arenas : others) += each->figures.objects;
    if (in_arenas > others) std::erase_if(parts, is_arena);
}

}  // namespace

template <class Predicate>
std::vector<std::vector<const advice*>> heap_in_c::sets_of(const std::vector<advice>& advices,
                                                           Predicate may_join) const {
    joined_sets sets{advices.size()};
    std::map<std::uint32_t, std::uint32_t> first;  // by function
    for (std::uint32_t i = 0; i < advices.size(); ++i) {
        if (!may_join(advices[i])) continue;
        for (const std::uint32_t function : callers_.of_most(advices[i].contexts)) {
            const auto [entry, added] = first.try_emplace(function, i);
            if (!added) sets.join(entry->second, i);
        }
    }
    std::map<std::uint32_t, std::vector<const advice*>> members;
    for (std::uint32_t i = 0; i < advices.size(); ++i) {
        if (may_join(advices[i])) members[sets.of(i)].push_back(&advices[i]);
    }
    std::vector<std::vector<const advice*>> found;
    found.reserve(members.size());
    for (auto& [set, parts] : members) found.push_back(std::move(parts));
    return found;
}

void heap_in_c::join_what_functions_share(std::vector<advice>& advices) const {
    std::vector<advice> changes;
    std::set<const advice*> gone;
    const auto may_join = [&](const advice& each) {
        return !each.of_scope && each.candidate != verdict::arena && may_use_heap(each);
    };
    for (std::vector<const advice*>& parts : sets_of(advices, may_join)) {
        leave_out_large_arenas(parts);
        const bool is_pooled = std::ranges::any_of(parts, [](const advice* each) {
            return each->candidate != verdict::leave && each->candidate != verdict::phase_arena;
        });
        if (parts.size() < 2 || !is_pooled) continue;
        changes.push_back(joined(parts));
        gone.insert(parts.begin(), parts.end());
    }
    std::erase_if(advices, [&](const advice& each) { return gone.contains(&each); });
    std::ranges::move(changes, std::back_inserter(advices));
}

std::vector<advice> heap_in_c::in_place_of_arenas(const std::vector<advice>& advices) const {
    std::vector<advice> heaps;
    const auto may_join = [&](const advice& each) { return may_use_heap(each); };
    for (const std::vector<const advice*>& parts : sets_of(advices, may_join)) {
        if (std::ranges::any_of(parts, [](const advice* each) { return has_reset(each->candidate); }))
            heaps.push_back(joined(parts));
    }
    return heaps;
}

bool heap_in_c::may_use_heap(const advice& each) const {
    return each.place.kind != place_kind::library && is_in_c(each, paths_) &&
           (each.candidate == verdict::leave || traits_of(each.candidate).fits_pool ||
            each.candidate == verdict::general_heap || has_reset(each.candidate));
}

advice heap_in_c::joined(const std::vector<const advice*>& parts) const {
    advice change = joined_advice(parts, run_, paths_, objects_);
    change.candidate = change.decision = change.in_plan = verdict::general_heap;
    const auto hook =
        std::ranges::find_if(parts, [](const advice* each) { return each->place.kind == place_kind::hook; });
    if (hook == parts.end()) {
        change.place.name = "all that " + names_of(callers_to_name(change.malloc_callers)) + " allocate and free";
    } else {
        change.place = (*hook)->place;
        change.function = change.place.function;
    }
    return change;
}

/// The two of most objects, and the number of the others.
std::string heap_in_c::names_of(std::span<const malloc_caller> functions) const {
    const auto name = [&](std::size_t i) { return paths_.functions()[functions[i].function].short_name; };
    if (functions.empty()) return "unknown functions";
    if (functions.size() == 1) return name(0);
    if (functions.size() == 2) return name(0) + " and " + name(1);
    return fmt::format("{}, {} and {}", name(0), name(1),
                       plural(functions.size() - 2, "more function", "more functions"));
}

}  // namespace acre::tool
