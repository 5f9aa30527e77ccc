// Where acre's general heap is one change of several advices for C: all calls of malloc and free in a function change
// at once, and it serves what other functions free as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "malloc_callers.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

class heap_in_c {
public:
    /// The arguments must outlive this object. `objects` is the number of those of the run.
    heap_in_c(const history& run, const call_paths& paths, const malloc_callers& callers, std::uint64_t objects)
        : run_{run}, paths_{paths}, callers_{callers}, objects_{objects} {}

    /// Where the heap or a pool is advised for a part of what some functions allocate and free, the other parts join
    /// it, unless they are worth an arena with a reset, or with most of the objects.
    void join_what_functions_share(std::vector<advice>& advices) const;

    /// What the heap serves where arenas are advised: their objects, and those of the advices that share functions
    /// with them. An arena in C relies on each line that allocates from it: what outlives its reset with another input
    /// is lost. The heap has no reset.
    std::vector<advice> in_place_of_arenas(const std::vector<advice>& advices) const;

private:
    /// The advices that `may_join`, in sets that share functions.
    template <class Predicate>
    std::vector<std::vector<const advice*>> sets_of(const std::vector<advice>& advices, Predicate may_join) const;
    bool may_use_heap(const advice& each) const;
    advice joined(const std::vector<const advice*>& parts) const;
    std::string names_of(std::span<const malloc_caller> functions) const;

    const history& run_;
    const call_paths& paths_;
    const malloc_callers& callers_;
    std::uint64_t objects_;
};

}  // namespace acre::tool
