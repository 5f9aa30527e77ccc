#include "plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arena_fitting.hpp"
#include "escape_depths.hpp"
#include "rules.hpp"
#include "scope_planner.hpp"
#include "sizing.hpp"
#include "thresholds.hpp"

namespace acre::tool {

namespace {

// Callers that a site of mixed sizes is told apart by.
constexpr std::size_t max_callers = 4;

bool depends_on_the_caller(verdict v) {
    return v == verdict::multi_pool || v == verdict::multi_arena || v == verdict::concurrent_multi_pool ||
           v == verdict::leave;
}

/// Containers take allocators, and those of make_shared make what is allocated larger: a pool of any size serves them.
verdict for_containers(verdict v) {
    if (v == verdict::object_pool) return verdict::multi_pool;
    return v == verdict::concurrent_object_pool ? verdict::concurrent_multi_pool : v;
}

// For a group whose depth is not known yet: a buffer on the stack needs 0.
constexpr std::uint32_t some_depth = 1;

class planner {
public:
    planner(const history& run, const call_paths& paths, std::uint64_t sampling_period)
        : run_{run}, paths_{paths}, scopes_{run, paths}, depths_{run, paths} {
        list_.objects = run.object_count();
        list_.of_resource = run.is_of_resource();
        list_.sampling_period = sampling_period;
    }

    advice_list plan() {
        if (!list_.is_sample()) plan_scopes();
        plan_sites();
        for (advice& each : list_.advices) complete(each);
        std::sort(list_.advices.begin(), list_.advices.end(), [](const advice& a, const advice& b) {
            if (a.figures.objects != b.figures.objects) return a.figures.objects > b.figures.objects;
            return a.contexts.front() < b.contexts.front();
        });
        return std::move(list_);
    }

private:
    /// Site and the functions that call it, as far as they matter.
    using site_key = std::vector<std::uint32_t>;

    /// The sites told apart by so many callers, as groups of contexts.
    struct site_level {
        std::vector<std::uint32_t> group_of_context;
        std::map<std::uint32_t, group_figures> figures;  // of the groups that are worth a look
    };

    void plan_scopes() {
        list_.advices = scopes_.plan();
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
            each.suits = ruled.suits;
            each.reason = std::move(ruled.reason);
            if (each.suits != verdict::leave || !each.reason.empty()) continue;
            given_back_.insert(given_back_.end(), each.contexts.begin(), each.contexts.end());
        }
        std::erase_if(list_.advices,
                      [](const advice& each) { return each.suits == verdict::leave && each.reason.empty(); });
    }

    void plan_sites() {
        open_ = given_back_;
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!scopes_.claimed()[i]) open_.push_back(i);
        }
        std::sort(open_.begin(), open_.end());
        context_set open = open_;
        for (std::size_t callers = 0; callers <= max_callers && !open.empty(); ++callers) {
            open = plan_sites_by(open, callers);
        }
    }

    /// Advices for the sites told apart by so many callers; those that one more caller might make clearer come back.
    context_set plan_sites_by(const context_set& open, std::size_t callers) {
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
            each.contexts = std::move(contexts);
            each.callers = callers;
            place_site(std::move(each), callers, unclear);
        }
        return unclear;
    }

    /// One more caller only parts groups, so each level is found for all that was open at first, in one pass.
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

    void place_site(advice each, std::size_t callers, context_set& unclear) {
        if (share_of(each.figures.objects) < threshold::worth_a_look) {
            ++list_.small_sites;
            list_.small_objects += each.figures.objects;
            return;
        }
        each.escape_depth = depths_.of(each.contexts);
        ruling ruled = rule_for(each.figures, each.escape_depth);
        each.suits = ruled.suits;
        each.reason = std::move(ruled.reason);
        if (callers < max_callers && depends_on_the_caller(each.suits) && splits_well(each.contexts, callers + 1)) {
            unclear.insert(unclear.end(), each.contexts.begin(), each.contexts.end());
            return;
        }
        list_.advices.push_back(std::move(each));
    }

    /// True when telling one more caller apart gives a part worth a look that is clearer than the whole.
    bool splits_well(const context_set& contexts, std::size_t callers) {
        for (std::size_t depth = callers; depth <= max_callers; ++depth) {
            const site_level& level = level_of(depth);
            std::set<std::uint32_t> parts;
            for (const std::uint32_t context : contexts) parts.insert(level.group_of_context[context]);
            if (parts.size() < 2) continue;
            for (const std::uint32_t part : parts) {
                const auto known = level.figures.find(part);
                if (known != level.figures.end() && !depends_on_the_caller(rule_for(known->second, some_depth).suits)) {
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
        site_key key{run_.contexts()[context].site};
        std::uint32_t node = paths_.own_code(run_.contexts()[context].node);
        for (std::size_t i = 0; i < callers && node != 0; ++i) {
            node = paths_.own_code(paths_.nodes()[node].parent);
            key.push_back(paths_.nodes()[node].function);
        }
        return key;
    }

    /// What is told about an advice besides its figures.
    void complete(advice& each) {
        std::map<std::uint32_t, std::uint64_t> by_site;
        for (const std::uint32_t context : each.contexts) {
            by_site[run_.contexts()[context].site] += run_.contexts()[context].objects;
        }
        for (const auto& [site, objects] : by_site) each.parts.push_back({site, objects});
        std::sort(each.parts.begin(), each.parts.end(), [](const site_part& a, const site_part& b) {
            return a.objects != b.objects ? a.objects > b.objects : a.site < b.site;
        });
        each.site = each.parts.front().site;
        each.stack = busiest_stack(each);
        each.share = share_of(each.figures.objects);
        if (comes_through_library(each.stack)) each.suits = for_containers(each.suits);
        each.says = each.suits;
        if (!each.of_scope) each.function = scope_of_site(each);
        choose_sizes(each);
        if (each.suits == verdict::multi_arena) fit_arenas(each, run_);
    }

    /// Whether the place calls a container, std::make_shared or the like, which allocates: what is allocated is a node,
    /// a buffer or a control block then, no object of a type that the program could name.
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

    std::uint32_t busiest_stack(const advice& each) const {
        const allocation_context* busiest = nullptr;
        for (const std::uint32_t number : each.contexts) {
            const allocation_context& context = run_.contexts()[number];
            if (context.site != each.site) continue;
            if (busiest == nullptr || context.objects > busiest->objects) busiest = &context;
        }
        return busiest->stack;
    }

    /// A scratch or a buffer lies in the function that owns most of the lifetimes; everything else stands at its site.
    std::uint32_t scope_of_site(const advice& each) const {
        if (!lies_in_owner(each.suits)) return caller_of_site(each);
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
    scope_planner scopes_;
    escape_depths depths_;
    context_set given_back_;
    context_set open_;  // to the sites, at first
    std::array<std::optional<site_level>, max_callers + 1> levels_;
    advice_list list_;
};

}  // namespace

bool lies_in_owner(verdict v) {
    return v == verdict::scratch || v == verdict::stack_buffer;
}

bool is_of_each_thread(verdict v) {
    switch (v) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::object_pool:
        case verdict::multi_pool:
        case verdict::multi_arena:
            return true;
        default:
            return false;
    }
}

const char* name_of(verdict v) {
    switch (v) {
        case verdict::arena:
            return "arena";
        case verdict::scratch:
            return "scratch";
        case verdict::stack_buffer:
            return "stack_buffer";
        case verdict::object_pool:
            return "object_pool";
        case verdict::multi_pool:
            return "multi_pool";
        case verdict::multi_arena:
            return "multi_arena";
        case verdict::monotonic_arena:
            return "monotonic_arena";
        case verdict::phase_arena:
            return "phase_arena";
        case verdict::concurrent_object_pool:
            return "concurrent_object_pool";
        case verdict::concurrent_multi_pool:
            return "concurrent_multi_pool";
        case verdict::leave:
            return "leave";
    }
    return "leave";
}

advice_list plan_advices(const history& run, const call_paths& paths, std::uint64_t sampling_period) {
    return planner{run, paths, sampling_period}.plan();
}

}  // namespace acre::tool
