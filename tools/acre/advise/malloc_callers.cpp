#include "malloc_callers.hpp"

#include <algorithm>

#include "own_call.hpp"
#include "rules.hpp"

namespace acre::tool {

namespace {

std::uint32_t innermost_own_function(std::uint32_t stack, const call_paths& paths) {
    const auto call = innermost_own_call(stack, paths);
    return call ? call->function : 0;
}

}  // namespace

malloc_callers::malloc_callers(const history& run, const call_paths& paths) : run_{run}, paths_{paths}, code_{paths} {
    allocates_.reserve(run.contexts().size());
    for (const allocation_context& each : run.contexts())
        allocates_.push_back(innermost_own_function(each.stack, paths));
    freeings_.reserve(run.freeings().size());
    for (const auto& [context, stack, objects] : run.freeings())
        freeings_.push_back({context, stack, innermost_own_function(stack, paths), objects});
}

std::vector<malloc_caller> malloc_callers::of(const context_set& contexts) const {
    std::set<std::uint32_t> allocating;
    for (const std::uint32_t context : contexts) allocating.insert(allocates_[context]);
    std::vector<malloc_caller> found;
    const auto add = [&](std::uint32_t function, std::uint32_t stack, std::uint64_t objects) {
        if (function == 0) return;
        const auto known = std::ranges::find(found, function, &malloc_caller::function);
        if (known == found.end()) {
            found.push_back({function, paths_.place_in(stack, function), objects, calls_by_pointer(stack)});
        } else {
            known->objects += objects;
            known->by_pointer = known->by_pointer && calls_by_pointer(stack);
        }
    };
    for (std::uint32_t i = 0; i < allocates_.size(); ++i) {
        if (allocating.contains(allocates_[i]))
            add(allocates_[i], run_.contexts()[i].stack, run_.contexts()[i].objects);
    }
    for (const freeing& each : freeings_) {
        if (allocating.contains(allocates_[each.context])) add(each.function, each.stack, each.objects);
    }
    std::ranges::sort(found, [](const malloc_caller& a, const malloc_caller& b) {
        if (a.by_pointer != b.by_pointer) return b.by_pointer;
        return a.objects != b.objects ? a.objects > b.objects : a.function < b.function;
    });
    return found;
}

/// Whether the program's innermost call is one of the C library by a pointer.
bool malloc_callers::calls_by_pointer(std::uint32_t stack) const {
    const auto call = innermost_own_call(stack, paths_);
    if (!call) return false;
    const auto [entry, is_new] = by_pointer_.try_emplace(call->frame, false);
    if (is_new) entry->second = code_.is_by_pointer(*call);
    return entry->second;
}

std::set<std::uint32_t> malloc_callers::of_most(const context_set& contexts) const {
    std::map<std::uint32_t, std::uint64_t> objects;
    std::uint64_t all = 0;
    for (const std::uint32_t context : contexts) {
        objects[allocates_[context]] += run_.contexts()[context].objects;
        all += run_.contexts()[context].objects;
    }
    for (const freeing& each : freeings_) {
        if (std::ranges::binary_search(contexts, each.context)) objects[each.function] += each.objects;
    }
    std::set<std::uint32_t> most;
    const double least = threshold::not_told_apart * static_cast<double>(all);
    for (const auto& [function, count] : objects) {
        if (function != 0 && static_cast<double>(count) > least) most.insert(function);
    }
    return most;
}

}  // namespace acre::tool
