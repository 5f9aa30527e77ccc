#include "escape_depths.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "rules.hpp"
#include "thresholds.hpp"

namespace acre::tool {

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
    if (!context.any_freed || context.owner == 0) return escapes;
    std::uint32_t depth = 0;
    for (std::uint32_t node = paths_.own_code(context.node); node != context.owner;) {
        if (node == 0) return escapes;
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

}  // namespace acre::tool
