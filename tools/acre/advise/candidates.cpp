#include "candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "advice_code.hpp"
#include "fewer_allocations.hpp"
#include "heap_in_c.hpp"
#include "joined_advice.hpp"
#include "malloc_callers.hpp"
#include "rules.hpp"
#include "scope_search.hpp"
#include "sizing.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

// Number of callers by which the uses of a site are distinguished.
constexpr std::size_t max_callers = 4;

// For a group whose escape depth is not known yet: not 0, which a stack buffer needs.
constexpr std::uint32_t some_depth = 1;

/// The escape depths of contexts. Wrappers of malloc do not count, whatever their names: functions that several others
/// call and that own nothing of what they allocate.
class escape_depths {
public:
    escape_depths(const history& run, const call_paths& paths);

    /// The largest of the contexts, or `no_owner`.
    std::uint32_t of(const context_set& set) const;

private:
    std::uint32_t of(const allocation_context& context) const;
    void find_wrappers();

    const history& run_;
    const call_paths& paths_;
    std::vector<bool> is_wrapper_;  // by function
};

escape_depths::escape_depths(const history& run, const call_paths& paths)
    : run_{run}, paths_{paths}, is_wrapper_(paths.functions().size()) {
    find_wrappers();
}

std::uint32_t escape_depths::of(const context_set& set) const {
    std::uint32_t largest = 0;
    for (const std::uint32_t context : set) largest = std::max(largest, of(run_.contexts()[context]));
    return largest;
}

std::uint32_t escape_depths::of(const allocation_context& context) const {
    if (!context.any_freed || context.owner == 0) return no_owner;
    std::uint32_t depth = 0;
    for (std::uint32_t node = paths_.own_code(context.node); node != context.owner;) {
        if (node == 0) return no_owner;
        if (!is_wrapper_[paths_.nodes()[node].function]) ++depth;
        node = paths_.own_code(paths_.nodes()[node].parent);
    }
    return depth;
}

void escape_depths::find_wrappers() {
    std::map<std::uint32_t, std::set<std::uint32_t>> callers;
    std::set<std::uint32_t> owners;
    for (const allocation_context& context : run_.contexts()) {
        const std::uint32_t node = paths_.own_code(context.node);
        if (node == 0) continue;
        const std::uint32_t function = paths_.nodes()[node].function;
        const std::uint32_t caller = paths_.own_code(paths_.nodes()[node].parent);
        callers[function].insert(paths_.nodes()[caller].function);
        if (context.any_freed && context.owner == node) owners.insert(function);
    }
    for (const auto& [function, calling] : callers) {
        is_wrapper_[function] = calling.size() >= threshold::many_callers && !owners.contains(function);
    }
}

/// Sites that are served together take any sizes, in any order.
verdict verdict_for_several(const ruling& of) {
    switch (of.candidate) {
        case verdict::object_pool:
        case verdict::multi_pool:
        case verdict::multi_arena:
        case verdict::stack_buffer:
        case verdict::scratch:
        case verdict::arena:
            return verdict::multi_pool;
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            return verdict::concurrent_multi_pool;
        case verdict::general_heap:
            return verdict::general_heap;
        default:
            return verdict::leave;
    }
}

/// Whether the code of a library's hook names the general heap.
bool is_over_general_heap(const library_memory& of) {
    return of.code.find("acre::general_heap") != std::string_view::npos;
}

std::string library_text(const library_memory& of) {
    std::string text = "the library allocates it for itself, so there is no code to paste";
    if (!of.advice.empty()) text += fmt::format(" ({})", of.advice);
    return text + "; a preloaded malloc or acre run serves it";
}

class candidate_search {
public:
    candidate_search(const history& run, const call_paths& paths, std::uint64_t sampling_period)
        : run_{run},
          paths_{paths},
          places_{run, paths},
          scopes_{std::in_place, run, paths, places_},
          depths_{run, paths},
          lines_{run, paths},
          callers_{run, paths},
          growing_{std::make_shared<growing_contexts>(run, paths, places_)} {
        list_.objects = run.object_count();
        for (const allocation_context& each : run.contexts()) list_.bytes += each.bytes;
        list_.of_resource = run.is_of_resource();
        list_.sampling_period = sampling_period;
    }

    advice_list find() {
        if (!list_.is_sample() && !list_.of_resource) find_fewer();
        if (!list_.is_sample()) find_in_scopes();
        find_at_sites();
        std::ranges::move(fewer_, std::back_inserter(list_.advices));
        for (advice& each : list_.advices) complete(each);
        const heap_in_c heap{run_, paths_, callers_, list_.objects};
        heap.join_what_functions_share(list_.advices);
        join_strings();
        list_.heaps_instead = heap.in_place_of_arenas(list_.advices);
        find_unoptimised();
        std::sort(list_.advices.begin(), list_.advices.end(), [](const advice& a, const advice& b) {
            if (a.figures.objects != b.figures.objects) return a.figures.objects > b.figures.objects;
            return a.contexts.front() < b.contexts.front();
        });
        name_variables(list_, paths_);
        return std::move(list_);
    }

private:
    /// The number of the place, and as many of its callers as distinguish it.
    using site_key = std::vector<std::uint32_t>;

    /// Groups of contexts: sites distinguished by a number of callers.
    struct site_level {
        std::vector<std::uint32_t> group_of_context;
        std::map<std::uint32_t, group_figures> figures;  // of groups worth a look
    };

    /// What the program need not allocate comes before all that would allocate it in another way.
    void find_fewer() {
        const std::vector<buffer_group> groups = find_buffer_groups(run_, places_, *growing_);
        std::vector<std::uint32_t> group_of_context(run_.contexts().size(), no_group);
        for (const buffer_group& each : groups) {
            const verdict candidate = rule_for_buffers(each.figures, may_be_kept(each)).candidate;
            if (candidate == verdict::leave) continue;
            for (const std::uint32_t context : each.contexts)
                group_of_context[context] = static_cast<std::uint32_t>(fewer_.size());
            advice found;
            found.candidate = candidate;
            found.contexts = each.contexts;
            found.place = places_.of(each.contexts.front());
            found.growth = each.figures;
            found.escape_depth = depths_.of(each.contexts);
            fewer_.push_back(std::move(found));
        }
        if (fewer_.empty()) return;
        const auto figures = study_groups(run_, group_of_context, fewer_.size());
        for (std::size_t i = 0; i < figures.size(); ++i) fewer_[i].figures = figures[i];
    }

    /// An arena may have these with all else that dies in a function, if that is more: it is one change for all.
    void search_scopes() {
        const auto claim = [&](const advice& each) { scopes_->claim(each.contexts); };
        list_.advices = scopes_->find();
        std::vector<const advice*> taken;
        for (const advice& scope : list_.advices) {
            if (!needs_mostly_fewer(scope)) continue;
            for (const advice& each : fewer_) {
                if (overlap(each, scope)) taken.push_back(&each);
            }
        }
        if (!taken.empty()) {
            scopes_.emplace(run_, paths_, places_);
            for (const advice* each : taken) claim(*each);
            list_.advices = scopes_->find();
        }
        std::erase_if(fewer_, [&](const advice& each) {
            return std::ranges::any_of(list_.advices, [&](const advice& scope) { return overlap(each, scope); });
        });
        std::ranges::for_each(fewer_, claim);
    }

    /// Whether most of what a scope allocates need not be: a container that grows is one, with all its buffers.
    bool needs_mostly_fewer(const advice& scope) const {
        std::uint64_t containers = 0;
        std::uint64_t replaced = 0;
        for (const advice& each : fewer_) {
            if (!overlap(each, scope)) continue;
            containers += each.growth->containers;
            replaced += each.growth->replaced;
        }
        const auto all = static_cast<double>(objects_in(scope.contexts)) - static_cast<double>(replaced);
        return static_cast<double>(containers) >= threshold::most_of_scope * all;
    }

    static bool overlap(const advice& a, const advice& b) {
        return std::ranges::find_first_of(a.contexts, b.contexts) != a.contexts.end();
    }

    /// One at a time, made and freed in one function.
    bool may_be_kept(const buffer_group& of) const {
        const auto ends_here = [&](std::uint32_t number) {
            const allocation_context& context = run_.contexts()[number];
            return context.never_freed == 0 && context.owner != 0 && !context.crosses_threads &&
                   !paths_.is_recursive(context.owner);
        };
        const bool is_member = !places_.of(of.contexts.front()).within.empty();
        return of.figures.most_alive == 1 && std::ranges::all_of(of.contexts, ends_here) &&
               (depths_.of(of.contexts) == 0 || is_member) && are_variables(of.contexts, run_, paths_);
    }

    void find_in_scopes() {
        search_scopes();
        for (advice& each : list_.advices) give_back_strays(each);
        std::vector<std::uint32_t> groups(run_.contexts().size(), no_group);
        for (std::uint32_t i = 0; i < list_.advices.size(); ++i) {
            for (const std::uint32_t context : list_.advices[i].contexts) groups[context] = i;
        }
        const auto figures = study_groups(run_, groups, list_.advices.size());
        for (std::size_t i = 0; i < figures.size(); ++i) {
            advice& each = list_.advices[i];
            each.figures = figures[i];
            each.escape_depth = depths_.of(each.contexts);
            ruling ruled = rule_for_scope(each.figures, each.generations, each.escape_depth);
            each.candidate = ruled.candidate;
            each.reason = std::move(ruled.reason);
            if (each.candidate != verdict::leave || !each.reason.empty()) continue;
            given_back_.insert(given_back_.end(), each.contexts.begin(), each.contexts.end());
        }
        std::erase_if(list_.advices,
                      [](const advice& each) { return each.candidate == verdict::leave && each.reason.empty(); });
    }

    /// A few objects of a site among thousands are not worth a line to change: they stay with malloc.
    void give_back_strays(advice& of_scope) {
        std::map<std::uint32_t, std::uint64_t> by_site;
        for (const std::uint32_t context : of_scope.contexts)
            by_site[run_.contexts()[context].site] += run_.contexts()[context].objects;
        const double least = threshold::stray * static_cast<double>(objects_in(of_scope.contexts));
        context_set stays;
        for (const std::uint32_t context : of_scope.contexts) {
            const bool is_stray = static_cast<double>(by_site[run_.contexts()[context].site]) < least;
            (is_stray ? given_back_ : stays).push_back(context);
        }
        of_scope.contexts = std::move(stays);
    }

    void find_at_sites() {
        open_ = given_back_;
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!scopes_->claimed()[i]) open_.push_back(i);
        }
        std::sort(open_.begin(), open_.end());
        context_set open = open_;
        for (std::size_t callers = 0; callers <= max_callers && !open.empty(); ++callers) {
            open = find_at_sites_by(open, callers);
        }
        find_at_small_sites();
    }

    /// Sites too small for an advice of their own are one group where one function owns the lifetimes.
    void find_at_small_sites() {
        std::map<std::uint32_t, std::vector<const context_set*>> by_owner;
        for (const context_set& each : small_) by_owner[owner_of_most(each)].push_back(&each);
        std::vector<context_set> groups;
        for (const auto& [owner, members] : by_owner) {
            context_set all;
            for (const context_set* each : members) all.insert(all.end(), each->begin(), each->end());
            const bool is_group = owner != 0 && members.size() > 1 && !list_.is_sample() &&
                                  share_of(objects_in(all)) >= threshold::worth_a_look;
            if (is_group) {
                groups.push_back(sorted(std::move(all)));
            } else {
                list_.small_sites += members.size();
                list_.small_objects += objects_in(all);
            }
        }
        if (!groups.empty()) find_in_groups(std::move(groups));
    }

    /// Strings are copied between the places that have them, and to another type that costs more than it saves. So
    /// where one has a pool, all strings, and the containers that hold them, are one change: of their type. The general
    /// heap has no state, so the new type is made as the old one is.
    void join_strings() {
        const auto holds_strings = [&](const advice& each) {
            return !each.of_scope && !is_in_c(each, paths_) && each.place.kind == place_kind::container &&
                   !traits_of(each.candidate).allocates_less && each.place.name.find(string_name) != std::string::npos;
        };
        const auto is_pooled_string = [&](const advice& each) {
            const bool is_pooled = traits_of(each.candidate).in_c.has_value() || each.candidate == verdict::multi_arena;
            return holds_strings(each) && each.place.name == string_name && is_pooled;
        };
        if (std::ranges::none_of(list_.advices, is_pooled_string)) return;
        std::vector<const advice*> members;
        for (const advice& each : list_.advices) {
            if (holds_strings(each)) members.push_back(&each);
        }
        advice joined = joined_advice(members, run_, paths_, list_.objects);
        joined.candidate = joined.decision = joined.in_plan = verdict::general_heap;
        joined.place.name = std::string{string_name};
        if (members.size() > 1) joined.place.name += " and the containers that hold it";
        std::erase_if(list_.advices, holds_strings);
        list_.advices.push_back(std::move(joined));
    }

    void find_in_groups(std::vector<context_set> groups) {
        std::vector<std::uint32_t> group_of_context(run_.contexts().size(), no_group);
        for (std::uint32_t i = 0; i < groups.size(); ++i) {
            for (const std::uint32_t context : groups[i]) group_of_context[context] = i;
        }
        const auto figures = study_groups(run_, group_of_context, groups.size());
        for (std::size_t i = 0; i < groups.size(); ++i) {
            advice each;
            each.place.kind = place_kind::several;
            each.figures = figures[i];
            each.escape_depth = no_owner;
            each.place.function = owner_of_most(groups[i]);
            each.contexts = std::move(groups[i]);
            ruling ruled = rule_for(each.figures, no_owner);
            each.candidate = verdict_for_several(ruled);
            each.reason = std::move(ruled.reason);
            if (each.candidate == verdict::leave) {
                ++list_.small_sites;
                list_.small_objects += each.figures.objects;
            } else {
                list_.advices.push_back(std::move(each));
            }
        }
    }

    /// The function that owns most of the lifetimes; 0 if they end elsewhere.
    std::uint32_t owner_of_most(const context_set& contexts) const {
        std::map<std::uint32_t, std::uint64_t> objects;
        for (const std::uint32_t context : contexts) {
            const allocation_context& of = run_.contexts()[context];
            objects[of.any_freed ? paths_.nodes()[of.owner].function : 0] += of.objects;
        }
        return std::ranges::max_element(objects, {}, [](const auto& each) { return each.second; })->first;
    }

    /// Makes advices for the sites distinguished by `callers`. Returns the contexts that another caller may make
    /// clearer.
    context_set find_at_sites_by(const context_set& open, std::size_t callers) {
        const site_level& level = level_of(callers);
        std::map<std::uint32_t, context_set> members;
        for (const std::uint32_t context : open) members[level.group_of_context[context]].push_back(context);
        context_set unclear;
        for (auto& [group, contexts] : members) {
            advice each;
            const auto known = level.figures.find(group);
            if (known != level.figures.end()) {
                each.figures = known->second;
            } else {
                each.figures.objects = objects_in(contexts);
            }
            each.place = places_.of(contexts.front());
            each.contexts = std::move(contexts);
            each.callers = change_places::is_split_by_callers(each.place) ? callers : 0;
            classify_site(std::move(each), callers, unclear);
        }
        return unclear;
    }

    /// Another caller only splits groups, so one pass finds a level for all contexts that were open at first.
    const site_level& level_of(std::size_t callers) {
        std::optional<site_level>& level = levels_[callers];
        if (level) return *level;
        level.emplace();
        level->group_of_context.assign(run_.contexts().size(), no_group);
        std::map<site_key, std::uint32_t> numbers;
        std::vector<std::uint64_t> objects;
        for (const std::uint32_t context : open_) {
            const auto [entry, added] =
                numbers.try_emplace(key_of(context, callers), static_cast<std::uint32_t>(objects.size()));
            if (added) objects.push_back(0);
            level->group_of_context[context] = entry->second;
            objects[entry->second] += run_.contexts()[context].objects;
        }
        study_level(*level, objects);
        return *level;
    }

    void study_level(site_level& level, const std::vector<std::uint64_t>& objects) const {
        std::vector<std::uint32_t> studied;
        std::vector<std::uint32_t> studied_as(objects.size(), no_group);
        for (std::uint32_t i = 0; i < objects.size(); ++i) {
            if (share_of(objects[i]) < threshold::worth_a_look) continue;
            studied_as[i] = static_cast<std::uint32_t>(studied.size());
            studied.push_back(i);
        }
        std::vector<std::uint32_t> groups(level.group_of_context.size(), no_group);
        for (const std::uint32_t context : open_) groups[context] = studied_as[level.group_of_context[context]];
        const auto figures = study_groups(run_, groups, studied.size());
        for (std::size_t i = 0; i < studied.size(); ++i) level.figures.emplace(studied[i], figures[i]);
    }

    std::uint64_t objects_in(const context_set& contexts) const {
        std::uint64_t objects = 0;
        for (const std::uint32_t context : contexts) objects += run_.contexts()[context].objects;
        return objects;
    }

    void classify_site(advice each, std::size_t callers, context_set& unclear) {
        const bool has_hook = has_hook_of_acre(each.place);
        const bool is_of_library = each.place.kind == place_kind::library && !has_hook;
        if (share_of(each.figures.objects) < threshold::worth_a_look) {
            if (is_of_library) {
                ++list_.small_sites;
                list_.small_objects += each.figures.objects;
            } else {
                small_.push_back(std::move(each.contexts));
            }
            return;
        }
        if (is_of_library) {
            each.reason = library_text(*each.place.library);
            each.in_plan = rule_for(each.figures, no_owner).candidate;
            list_.advices.push_back(std::move(each));
            return;
        }
        each.escape_depth = has_hook || each.place.kind == place_kind::hook ? no_owner : depths_.of(each.contexts);
        ruling ruled = rule_for(each.figures, each.escape_depth);
        if (traits_of(ruled.candidate).in_owner && !dies_in_owner(each.contexts))
            ruled = rule_for(each.figures, no_owner);
        // The coroutine frees its frame, and a library its own objects.
        if (has_hook || is_coroutine_frame(each.place))
            ruled.candidate = verdict_for_several(rule_for(each.figures, no_owner));
        if (has_hook && ruled.candidate != verdict::leave && is_over_general_heap(*each.place.library))
            ruled.candidate = verdict::general_heap;
        each.candidate = ruled.candidate;
        each.reason = std::move(ruled.reason);
        if (callers < max_callers && traits_of(each.candidate).clearer_by_caller &&
            splits_well(each.contexts, callers + 1)) {
            unclear.insert(unclear.end(), each.contexts.begin(), each.contexts.end());
            return;
        }
        list_.advices.push_back(std::move(each));
    }

    /// Whether one function owns all of the lifetimes, and nothing was live at any of its ends. The ends of a recursive
    /// function are not told apart: there each call has a scratch of its own, within that of its caller.
    bool dies_in_owner(const context_set& contexts) const {
        const auto owner = [&](std::uint32_t context) { return run_.contexts()[context].owner; };
        const std::uint32_t function = paths_.nodes()[owner(contexts.front())].function;
        const bool is_same = std::ranges::all_of(
            contexts, [&](std::uint32_t each) { return paths_.nodes()[owner(each)].function == function; });
        if (!is_same) return false;
        const bool is_recursive =
            std::ranges::any_of(contexts, [&](std::uint32_t each) { return paths_.is_recursive(owner(each)); });
        return is_recursive || study_resets(run_, paths_, function, contexts, {}).is_safe();
    }

    /// The innermost refused arena that would have served most of the objects.
    std::optional<refused_arena> refused_for(const advice& each) const {
        for (const auto& [refused, contexts] : std::views::reverse(scopes_->refused())) {
            context_set both;
            std::ranges::set_intersection(sorted(each.contexts), sorted(contexts), std::back_inserter(both));
            if (2 * objects_in(both) >= each.figures.objects) return refused;
        }
        return std::nullopt;
    }

    /// The function in which most of the objects die, though a few of its sites' objects live on.
    std::optional<rare_escape> escape_of(const advice& each) const {
        for (const auto& [function, contexts] : scopes_->escaping()) {
            context_set both;
            std::ranges::set_intersection(sorted(each.contexts), contexts, std::back_inserter(both));
            if (2 * objects_in(both) < each.figures.objects) continue;
            rare_escape found{.function = function, .objects = objects_in(contexts)};
            std::map<std::uint32_t, std::uint64_t> by_site;
            for (const std::uint32_t context : contexts) {
                found.lived_on += run_.contexts()[context].escaped();
                by_site[run_.contexts()[context].site] += run_.contexts()[context].escaped();
            }
            found.site = std::ranges::max_element(by_site, {}, [](const auto& of) { return of.second; })->first;
            found.freed_at = freed_outside(function, contexts, found.site);
            return found;
        }
        return std::nullopt;
    }

    /// The stack of the first free of an object of the site that is not in the function or its calls.
    std::uint32_t freed_outside(std::uint32_t function, const context_set& contexts, std::uint32_t site) const {
        const auto is_outside = [&](const history::freeing& each) {
            return run_.contexts()[each.context].site == site && paths_.call_in(each.stack, function) == no_stack &&
                   std::ranges::binary_search(contexts, each.context);
        };
        const auto found = std::ranges::find_if(run_.freeings(), is_outside);
        return found == run_.freeings().end() ? no_stack : found->stack;
    }

    static context_set sorted(context_set set) {
        std::ranges::sort(set);
        return set;
    }

    /// True when another caller splits off a group that is worth a look and has a clearer verdict.
    bool splits_well(const context_set& contexts, std::size_t callers) {
        for (std::size_t depth = callers; depth <= max_callers; ++depth) {
            const site_level& level = level_of(depth);
            std::set<std::uint32_t> groups;
            for (const std::uint32_t context : contexts) groups.insert(level.group_of_context[context]);
            if (groups.size() < 2) continue;
            for (const std::uint32_t group : groups) {
                const auto known = level.figures.find(group);
                if (known != level.figures.end() &&
                    !traits_of(rule_for(known->second, some_depth).candidate).clearer_by_caller) {
                    return true;
                }
            }
        }
        return false;
    }

    ruling rule_for(const group_figures& figures, std::uint32_t escape_depth) const {
        return list_.is_sample() ? rule_for_sample(figures) : rule_for_site(figures, escape_depth);
    }

    site_key key_of(std::uint32_t context, std::size_t callers) const {
        site_key key{places_.number_of(context)};
        if (!change_places::is_split_by_callers(places_.of(context))) return key;
        std::uint32_t node = paths_.own_code(run_.contexts()[context].node);
        for (std::size_t i = 0; i < callers && node != 0; ++i) {
            node = paths_.own_code(paths_.nodes()[node].parent);
            key.push_back(paths_.nodes()[node].function);
        }
        return key;
    }

    /// A function of the standard library that only calls another is inlined, unless nothing is.
    bool is_unoptimised(std::uint32_t stack) const {
        for (; stack != no_stack; stack = paths_.caller_of(stack)) {
            const std::vector<std::uint32_t>& functions = paths_.functions_at(paths_.frame_of(stack));
            const std::string& name = paths_.functions()[functions.front()].name;
            const bool is_allocator =
                name.find("new_allocator<") != std::string::npos && function_in(name) == "allocate";
            if (functions.size() == 1 && is_allocator) return true;
        }
        return false;
    }

    void find_unoptimised() {
        std::set<std::string> files;
        for (const allocation_context& each : run_.contexts()) {
            const std::string& file = paths_.sites()[each.site].file;
            if (!file.empty() && !files.contains(file) && is_unoptimised(each.stack)) files.insert(file);
        }
        for (advice& each : list_.advices) each.is_unoptimised = files.contains(paths_.sites()[each.site].file);
    }

    /// Objects of other paths of functions at the sites of an advice: code in a function serves all its callers.
    std::optional<others_at_sites> others_of(const advice& each) const {
        std::set<std::uint32_t> own_paths;
        for (const std::uint32_t context : each.contexts)
            own_paths.insert(paths_.own_code(run_.contexts()[context].node));
        others_at_sites others;
        std::uint64_t most = 0;
        for (const allocation_context& context : run_.contexts()) {
            if (context.objects == 0 || own_paths.contains(paths_.own_code(context.node)) ||
                std::ranges::find(each.sites, context.site, &site_objects::site) == each.sites.end())
                continue;
            others.objects += context.objects;
            if (context.objects <= most) continue;
            most = context.objects;
            others.site = context.site;
            others.stack = context.stack;
        }
        return others.objects == 0 ? std::nullopt : std::optional{others};
    }

    /// Fills in what an advice tells besides its figures.
    void complete(advice& each) const {
        fill_sites(each, run_);
        fill_places(each);
        each.share = share_of(each.figures.objects);
        note_growth(each);
        if (traits_of(each.candidate).allocates_less) return complete_fewer(each);
        if (is_of_library(each)) each.candidate = traits_of(each.candidate).for_containers;
        const bool is_c = is_in_c(each, paths_);
        if (is_c) each.candidate = in_c(each.candidate);
        // A pool would reuse little of it. What else the heap saves, page faults above all, is seen in runs.
        const bool is_site = !each.of_scope && each.place.kind != place_kind::library;
        if (is_c && is_site && each.candidate == verdict::leave && !list_.is_sample() && has_no_pattern(each.figures)) {
            each.candidate = verdict::general_heap;
            each.reason.clear();
        }
        const bool varies = each.figures.sizes > 1 || each.figures.reallocated;
        if (is_c && varies && traits_of(each.candidate).fits_pool && each.candidate != verdict::leave)
            each.candidate = verdict::general_heap;
        each.decision = each.candidate;
        if (each.candidate != verdict::leave) each.in_plan = each.candidate;
        if (!each.of_scope) {
            each.function = scope_of_site(each);
            if (each.place.kind == place_kind::library) return;
            each.refused = refused_for(each);
            if (!each.refused) each.escape = escape_of(each);
        }
        choose_sizes(each, run_);
        if (each.of_scope || traits_of(each.candidate).in_owner)
            each.lines = lines_within(each.function, each.contexts);
        each.freed_at = lines_.frees_of(each.contexts, is_c);
        if (traits_of(each.candidate).freed_as_whole) each.others = others_of(each);
        if (is_c) check_lines(each);
        // Only what serves any object, and frees malloc's as well, can stand for all calls in a function.
        if (is_c && each.candidate == verdict::general_heap) each.malloc_callers = callers_.of(each.contexts);
    }

    /// Where too little is saved, what the rule for a site says may still be worth it.
    void complete_fewer(advice& each) const {
        const verdict candidate = each.candidate;
        const verdict otherwise = traits_of(rule_for(each.figures, no_owner).candidate).for_containers;
        each.in_plan = each.candidate = otherwise;
        choose_sizes(each, run_);
        each.decision = each.candidate = candidate;
        each.function = scope_of_site(each);
    }

    /// A std::vector with another allocator moves its elements one by one where it grows. It is judged by its last
    /// buffers.
    void note_growth(advice& each) const {
        for (const std::uint32_t context : each.contexts) {
            const allocation_context& of = run_.contexts()[context];
            const bool grows = growing_->is_vector(context) && growing_->grows(context) && of.smallest < of.largest;
            if (grows) each.grown += of.objects;
        }
        if (each.grown != 0 || each.growth) each.growing = growing_;
    }

    /// Code in C is followed line by line: a line that frees or allocates objects of others as well must not change,
    /// unless the general heap serves them, which tells its own apart. So does a plan.
    void check_lines(advice& each) const {
        const verdict_traits& traits = traits_of(each.candidate);
        const auto allocated = traits.serves_any ? std::nullopt : lines_.allocates_others(each.contexts);
        const bool frees_others =
            each.candidate != verdict::leave && !traits.c_frees_any && are_freed_with_others(each.freed_at);
        const bool may_share = verdict_for_several({each.candidate, {}}) != verdict::leave;
        if ((allocated || frees_others) && may_share) {
            each.candidate = each.decision = each.in_plan = verdict::general_heap;
            return;
        }
        if (allocated) {
            each.reason = allocated_with_others_text(each, *allocated, paths_);
        } else if (frees_others) {
            each.reason = freed_with_others_text(each, paths_);
        } else {
            return;
        }
        each.candidate = each.decision = verdict::leave;
    }

    /// The lines of a function from which these objects are allocated and freed.
    line_range lines_within(std::uint32_t function, const context_set& contexts) const {
        line_range found;
        std::string file;
        const auto add = [&](std::uint32_t stack) {
            const source_location at = paths_.place_in(stack, function);
            if (at.line == 0 || (!file.empty() && at.file != file)) return;
            file = at.file;
            found.first = found.first == 0 ? at.line : std::min(found.first, at.line);
            found.last = std::max(found.last, at.line);
        };
        for (const std::uint32_t context : contexts) add(run_.contexts()[context].stack);
        for (const auto& [context, stack, objects] : run_.freeings()) {
            if (std::ranges::binary_search(contexts, context)) add(stack);
        }
        return found;
    }

    void fill_places(advice& each) const {
        std::map<std::uint32_t, std::uint64_t> objects;
        for (const std::uint32_t context : each.contexts)
            objects[places_.number_of(context)] += run_.contexts()[context].objects;
        std::vector<std::pair<std::uint32_t, std::uint64_t>> sorted(objects.begin(), objects.end());
        std::ranges::sort(sorted, [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        for (const auto& [number, count] : sorted) each.places.push_back(places_.numbered(number));
        for (const std::uint32_t context : each.contexts) {
            const std::string_view name = c_function_of(run_.contexts()[context].node);
            if (!name.empty()) each.c_functions.emplace(name);
        }
    }

    /// The outermost function of the C library, as strdup, between the program's code and an allocation.
    std::string_view c_function_of(std::uint32_t node) const {
        std::string_view found;
        for (; node != 0; node = paths_.nodes()[node].parent) {
            const function_info& function = paths_.functions()[paths_.nodes()[node].function];
            if (!function.passes_memory_on) break;
            if (const std::string_view name = allocating_c_function(function.name); !name.empty()) found = name;
        }
        return found;
    }

    bool is_of_library(const advice& each) const {
        if (each.of_scope || each.place.kind == place_kind::site) return comes_through_library(each.stack);
        return each.place.kind == place_kind::container;
    }

    /// Whether the site calls a container, std::make_shared or the like. These allocate nodes, buffers or control
    /// blocks, not objects of a type that the program could name; they take an allocator of any size.
    bool comes_through_library(std::uint32_t stack) const {
        const auto function_of = [&](std::uint32_t node) -> const function_info& {
            return paths_.functions()[paths_.nodes()[node].function];
        };
        std::uint32_t node = paths_.node(stack);
        const auto makes_an_object = [&](const function_info& called) {
            return called.only_allocates || called.short_name.starts_with("std::make_unique");
        };
        while (node != 0 && makes_an_object(function_of(node))) node = paths_.nodes()[node].parent;
        const std::string& name = function_of(node).short_name;
        return node != 0 && (name.starts_with("std::") || name.starts_with("__gnu_cxx::"));
    }

    /// The function that owns most of the lifetimes for a scratch or a buffer; that of the site for other candidates.
    std::uint32_t scope_of_site(const advice& each) const {
        if (each.place.function != 0) return each.place.function;
        if (!traits_of(each.candidate).in_owner) return caller_of_site(each);
        std::map<std::uint32_t, std::uint64_t> by_function;
        for (const std::uint32_t number : each.contexts) {
            const allocation_context& context = run_.contexts()[number];
            by_function[paths_.nodes()[context.owner].function] += context.objects;
        }
        return std::max_element(by_function.begin(), by_function.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }

    std::uint32_t caller_of_site(const advice& each) const {
        if (each.callers == 0) return paths_.sites()[each.site].function;
        std::uint32_t node = paths_.own_code(paths_.node(each.stack));
        for (std::size_t i = 0; i < each.callers && node != 0; ++i) node = paths_.own_code(paths_.nodes()[node].parent);
        return paths_.nodes()[node].function;
    }

    double share_of(std::uint64_t objects) const {
        return list_.objects == 0 ? 0 : static_cast<double>(objects) / static_cast<double>(list_.objects);
    }

    const history& run_;
    const call_paths& paths_;
    change_places places_;
    std::optional<scope_search> scopes_;
    escape_depths depths_;
    shared_lines lines_;
    malloc_callers callers_;
    std::shared_ptr<const growing_contexts> growing_;
    std::vector<advice> fewer_;  // of allocations that the program need not make
    context_set given_back_;
    std::vector<context_set> small_;
    context_set open_;  // for the sites, at first
    std::array<std::optional<site_level>, max_callers + 1> levels_;
    advice_list list_;
};

}  // namespace

advice_list find_candidates(const history& run, const call_paths& paths, std::uint64_t sampling_period) {
    return candidate_search{run, paths, sampling_period}.find();
}

}  // namespace acre::tool
