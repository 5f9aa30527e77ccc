#include "joined_advice.hpp"

#include <algorithm>
#include <map>

#include "code_places.hpp"
#include "group.hpp"
#include "malloc_callers.hpp"
#include "rules.hpp"
#include "shared_lines.hpp"
#include "sizing.hpp"

namespace acre::tool {

void fill_sites(advice& each, const history& run) {
    std::map<std::uint32_t, std::uint64_t> by_site;
    each.by_path.clear();
    for (const std::uint32_t number : each.contexts) {
        const allocation_context& context = run.contexts()[number];
        by_site[context.site] += context.objects;
        each.by_path.push_back({context.node, context.site, context.objects});
    }
    each.sites.clear();
    for (const auto& [site, objects] : by_site) each.sites.push_back({site, objects});
    std::ranges::sort(each.sites, [](const site_objects& a, const site_objects& b) {
        return a.objects != b.objects ? a.objects > b.objects : a.site < b.site;
    });
    each.site = each.sites.front().site;
    const allocation_context* busiest = nullptr;
    for (const std::uint32_t number : each.contexts) {
        const allocation_context& context = run.contexts()[number];
        if (context.site != each.site) continue;
        if (busiest == nullptr || context.objects > busiest->objects) busiest = &context;
    }
    each.stack = busiest->stack;
}

advice joined_advice(const std::vector<const advice*>& members, const history& run, const call_paths& paths,
                     std::uint64_t objects_of_run) {
    advice joined;
    joined.place.kind = place_kind::several;
    if (std::ranges::all_of(members, [](const advice* each) { return may_be_pooled_class(*each); })) {
        for (const advice* each : members) joined.classes.push_back(each->place.name);
    }
    std::vector<std::uint32_t> groups(run.contexts().size(), no_group);
    for (const advice* each : members) {
        for (const std::uint32_t context : each->contexts) groups[context] = 0;
        joined.places.insert(joined.places.end(), each->places.begin(), each->places.end());
        joined.c_functions.insert(each->c_functions.begin(), each->c_functions.end());
    }
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
        if (groups[i] == 0) joined.contexts.push_back(i);
    }
    joined.figures = study_groups(run, groups, 1).front();
    joined.escape_depth = no_owner;
    joined.candidate = joined.figures.freed_elsewhere != 0 ? verdict::concurrent_multi_pool : verdict::multi_pool;
    fill_sites(joined, run);
    if (is_in_c(joined, paths)) joined.candidate = in_c(joined.candidate);
    joined.decision = joined.candidate;
    joined.in_plan = joined.candidate;
    joined.function = paths.sites()[joined.site].function;
    joined.share = static_cast<double>(joined.figures.objects) / static_cast<double>(objects_of_run);
    choose_sizes(joined, run);
    joined.freed_at = shared_lines{run, paths}.frees_of(joined.contexts, is_in_c(joined, paths));
    if (joined.candidate == verdict::general_heap)
        joined.malloc_callers = malloc_callers{run, paths}.of(joined.contexts);
    return joined;
}

}  // namespace acre::tool
