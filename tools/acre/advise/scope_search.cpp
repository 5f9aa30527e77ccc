#include "scope_search.hpp"

#include <algorithm>
#include <set>

#include "rules.hpp"

namespace acre::tool {

namespace {

// Steps of the search for the contexts to leave out.
constexpr std::size_t max_trials = 16;

// Questions answered in one pass through the run, also for later candidates.
constexpr std::size_t questions_ahead = 32;

}  // namespace

scope_search::scope_search(const history& run, const call_paths& paths, const change_places& places)
    : run_{run}, paths_{paths}, places_{places}, claimed_(run.contexts().size()) {}

std::vector<advice> scope_search::find() {
    std::vector<advice> advices;
    const std::vector<candidate> all = candidates();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const candidate& each = all[i];
        study_ahead(std::span{all}.subspan(i));
        std::optional<advice> found = try_scope(each, unclaimed(each.beneath), 1 - threshold::max_evicted);
        if (!found) found = try_scope(each, unclaimed(each.own), threshold::min_kept);
        if (!found) continue;
        for (const std::uint32_t context : found->contexts) claimed_[context] = true;
        advices.push_back(std::move(*found));
    }
    find_rare_escapes(advices);
    return advices;
}

/// They are of no candidate in that function. An arena that stands there leaves them out.
void scope_search::find_rare_escapes(std::vector<advice>& advices) {
    for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
        const allocation_context& context = run_.contexts()[i];
        if (claimed_[i] || !context.escapes_rarely() || is_of_library(i)) continue;
        // A function that no other calls, as main, ends too late for an arena.
        if (owners_above(context.usual_owner).size() < 2) continue;
        escaping_[paths_.nodes()[context.usual_owner].function].push_back(i);
    }
    std::erase_if(advices, [&](advice& each) {
        const auto found = escaping_.find(each.function);
        if (found == escaping_.end()) return false;
        if (splits_a_type(each.contexts, found->second)) {
            for (const std::uint32_t context : each.contexts) claimed_[context] = false;
            return true;
        }
        add_blockers(each, found->second);
        return false;
    });
}

/// Whether objects of one class, or of one member that is a container, would lie in an arena and others stay on malloc.
/// What holds them has one type, and frees either all or none.
bool scope_search::splits_a_type(const context_set& kept, const context_set& left) const {
    std::set<std::uint32_t> held;
    for (const std::uint32_t context : kept) {
        const change_place& place = places_.of(context);
        if (place.kind != place_kind::library && !change_places::is_split_by_callers(place))
            held.insert(places_.number_of(context));
    }
    return std::ranges::any_of(left, [&](std::uint32_t context) { return held.contains(places_.number_of(context)); });
}

/// A pass through the run is expensive, so it answers the questions of the next candidates too, assuming that none of
/// them becomes an advice.
void scope_search::study_ahead(std::span<const candidate> next) {
    std::set<generation_question> open;
    for (const candidate& each : next) {
        for (generation_question& question : questions_of(each)) {
            if (!answers_.contains(question)) open.insert(std::move(question));
        }
        if (open.empty() || open.size() >= questions_ahead) break;
    }
    const std::vector<generation_question> questions{open.begin(), open.end()};
    const std::vector<generation_figures> found = study_generations(run_, questions);
    for (std::size_t i = 0; i < questions.size(); ++i) answers_.emplace(questions[i], found[i]);
}

/// The questions that try_scope asks first.
std::vector<generation_question> scope_search::questions_of(const candidate& each) const {
    std::vector<generation_question> questions;
    if (!frees_often(each.function)) return questions;
    const auto ask = [&](const context_set& open, double min_kept) {
        if (!worth_a_look(open)) return;
        const context_set sorted = shortest_lives_first(open);
        const auto count = static_cast<std::ptrdiff_t>(count_holding(sorted, min_kept));
        questions.push_back({each.function, sorted});
        questions.push_back({each.function, context_set(sorted.begin(), sorted.begin() + count)});
    };
    ask(unclaimed(each.beneath), 1 - threshold::max_evicted);
    ask(unclaimed(each.own), threshold::min_kept);
    return questions;
}

/// Outermost first: objects that one arena serves need no second one.
std::vector<scope_search::candidate> scope_search::candidates() const {
    std::map<std::uint32_t, candidate> by_function;
    std::set<std::uint32_t> recursive;
    for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
        const allocation_context& context = run_.contexts()[i];
        if (!context.any_freed || context.owner == 0 || context.crosses_threads || is_of_library(i)) continue;
        candidate& own = by_function[paths_.nodes()[context.owner].function];
        own.own.push_back(i);
        own.depth = std::min(own.depth, paths_.nodes()[context.owner].depth);
        for (const std::uint32_t node : owners_above(context.owner)) {
            const std::uint32_t function = paths_.nodes()[node].function;
            by_function[function].beneath.push_back(i);
            if (paths_.is_recursive(node)) recursive.insert(function);
        }
    }
    // A reset at the end of an inner call would free the outer call's objects.
    for (const std::uint32_t function : recursive) by_function.erase(function);
    std::vector<candidate> all;
    for (auto& [function, each] : by_function) {
        each.function = function;
        if (!each.own.empty() && worth_a_look(each.beneath)) all.push_back(std::move(each));
    }
    std::sort(all.begin(), all.end(), [](const candidate& a, const candidate& b) {
        return a.depth != b.depth ? a.depth < b.depth : a.function < b.function;
    });
    return all;
}

/// The node and those of its callers that are the program's own code.
std::vector<std::uint32_t> scope_search::owners_above(std::uint32_t node) const {
    std::vector<std::uint32_t> nodes;
    for (; node != 0; node = paths_.own_code(paths_.nodes()[node].parent)) nodes.push_back(node);
    return nodes;
}

/// Finds the largest subset of at least `min_kept` of the objects that an arena in the function can serve. Leaves out
/// the longest-lived contexts first.
std::optional<advice> scope_search::try_scope(const candidate& from, const context_set& set, double min_kept) {
    if (!worth_a_look(set)) return std::nullopt;
    const context_set sorted = shortest_lives_first(set);
    const auto cut = [&](std::size_t count) { return sorted.begin() + static_cast<std::ptrdiff_t>(count); };
    const auto front = [&](std::size_t count) { return context_set(sorted.begin(), cut(count)); };

    std::size_t good = sorted.size();
    std::optional<generation_figures> best = serves(sorted, from.function);
    if (!best) {
        good = count_holding(sorted, min_kept);
        best = serves(front(good), from.function);
        if (!best) return std::nullopt;
        // Bisection between a count that works and one that does not.
        for (std::size_t bad = sorted.size(), trial = 0; bad - good > 1 && trial < max_trials; ++trial) {
            const std::size_t middle = with_whole_unit(sorted, good + (bad - good) / 2);
            if (middle >= bad) break;
            const auto figures = serves(front(middle), from.function);
            if (figures) best = figures;
            (figures ? good : bad) = middle;
        }
    }
    context_set kept = front(good);
    context_set evicted(cut(good), sorted.end());
    reset_passes passes;
    const double min_objects = min_kept * static_cast<double>(objects_in(set));
    best = without_survivors(from, kept, evicted, *best, min_objects, passes);
    if (!best || !worth_a_look(kept) || splits_a_type(kept, evicted)) return std::nullopt;
    advice found = make_advice(from, std::move(kept), evicted, *best);
    found.resets = std::move(passes);
    return found;
}

/// Moves the contexts that lived on where an arena would be reset from `kept` to `evicted`. Nothing if fewer than
/// `min_objects` are left, or an arena does not serve them.
std::optional<generation_figures> scope_search::without_survivors(const candidate& from, context_set& kept,
                                                                  context_set& evicted, generation_figures found,
                                                                  double min_objects, reset_passes& passes) {
    const context_set all = kept;
    std::optional<reset_passes> first;
    while (true) {
        passes = study_resets(run_, paths_, from.function, kept, found.last_frees);
        if (passes.is_safe()) return found;
        if (!first) first = passes;
        for (const std::uint32_t lived_on : passes.lived_on) {
            for (const std::uint32_t context : places_.unit(places_.unit_of(lived_on))) {
                if (std::erase(kept, context) != 0) evicted.push_back(context);
            }
        }
        const auto next = kept.empty() ? std::nullopt : serves(kept, from.function);
        if (!next || static_cast<double>(objects_in(kept)) < min_objects) break;
        found = *next;
    }
    refuse(from, all, *first);
    return std::nullopt;
}

void scope_search::refuse(const candidate& from, const context_set& set, const reset_passes& passes) {
    const auto busiest = std::ranges::max_element(
        passes.lived_on, {}, [&](std::uint32_t context) { return run_.contexts()[context].objects; });
    refused_.push_back({{from.function, passes, run_.contexts()[*busiest].site}, set});
}

/// Number of contexts from the front that hold at least this share of the objects.
std::size_t scope_search::count_holding(const context_set& sorted, double share) const {
    const double wanted = share * static_cast<double>(objects_in(sorted));
    double held = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        held += static_cast<double>(run_.contexts()[sorted[i]].objects);
        if (held >= wanted) return with_whole_unit(sorted, i + 1);
    }
    return sorted.size();
}

/// The count, or more, such that the contexts of no container are on both sides of it.
std::size_t scope_search::with_whole_unit(const context_set& sorted, std::size_t count) const {
    while (count < sorted.size() && places_.unit_of(sorted[count]) == places_.unit_of(sorted[count - 1])) ++count;
    return count;
}

/// Those of a container stand together, by the longest life of them.
context_set scope_search::shortest_lives_first(const context_set& set) const {
    struct position {
        std::uint64_t life = 0;
        std::uint32_t unit = 0;
        std::uint32_t context = 0;

        auto operator<=>(const position&) const = default;
    };
    std::vector<position> positions;
    positions.reserve(set.size());
    for (const std::uint32_t context : set) {
        const std::uint32_t unit = places_.unit_of(context);
        std::uint64_t life = 0;
        for (const std::uint32_t each : places_.unit(unit)) life = std::max(life, run_.contexts()[each].longest_life);
        // Contexts are numbered in the order of their first allocations, and so are the units.
        positions.push_back({life, unit, context});
    }
    std::ranges::sort(positions);
    context_set sorted;
    sorted.reserve(set.size());
    for (const position& each : positions) sorted.push_back(each.context);
    return sorted;
}

generation_figures scope_search::answer_to(const generation_question& question) const {
    const auto known = answers_.find(question);
    return known != answers_.end() ? known->second : study_generations(run_, std::span{&question, 1}).front();
}

/// A function cannot end more generations than it has frees of its own.
bool scope_search::frees_often(std::uint32_t function) const {
    return run_.freed_in(function) >= threshold::generations;
}

std::optional<generation_figures> scope_search::serves(const context_set& set, std::uint32_t function) const {
    if (!frees_often(function)) return std::nullopt;
    generation_figures found = answer_to({function, set});
    const auto objects = static_cast<double>(found.objects);
    const bool regular = found.count >= threshold::generations &&
                         objects >= threshold::in_generations * static_cast<double>(objects_in(set));
    const bool small = found.expansion() <= threshold::expansion || found.max_bytes <= threshold::small_arena;
    if (!regular || !small) return std::nullopt;
    return found;
}

advice scope_search::make_advice(const candidate& from, context_set kept, const context_set& evicted,
                                 const generation_figures& generations) const {
    advice result;
    result.of_scope = true;
    result.function = from.function;
    result.generations = generations;
    result.contexts = std::move(kept);
    add_blockers(result, evicted);
    return result;
}

void scope_search::add_blockers(advice& to, const context_set& set) const {
    for (const std::uint32_t number : set) {
        const allocation_context& context = run_.contexts()[number];
        const auto known = std::ranges::find(to.blockers, context.site, &site_objects::site);
        if (known == to.blockers.end()) {
            to.blockers.push_back({context.site, context.objects});
        } else {
            known->objects += context.objects;
        }
    }
}

context_set scope_search::unclaimed(const context_set& set) const {
    std::vector<bool> all(claimed_.size());
    for (const std::uint32_t context : set) all[context] = true;
    context_set rest;
    std::ranges::copy_if(set, std::back_inserter(rest), [&](std::uint32_t context) {
        // A container is served whole or not at all.
        return std::ranges::all_of(places_.unit(places_.unit_of(context)),
                                   [&](std::uint32_t each) { return !claimed_[each] && all[each]; });
    });
    return rest;
}

std::uint64_t scope_search::objects_in(const context_set& set) const {
    std::uint64_t objects = 0;
    for (const std::uint32_t context : set) objects += run_.contexts()[context].objects;
    return objects;
}

bool scope_search::worth_a_look(const context_set& set) const {
    return static_cast<double>(objects_in(set)) >= threshold::worth_a_look * static_cast<double>(run_.object_count());
}

}  // namespace acre::tool
