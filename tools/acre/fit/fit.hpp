// Finds how large each type must be for a selection of allocations: `acre fit` without its output and its check.
//
// Reads the events of a selection four to nine times. Memory: at most 256 MiB for the sizes that it tries at once, and
// about 100 bytes per live object.
//
//     const fit_result result = fit([&](const auto& visit) { reader.for_each(visit); }, {}, site_of_stack);
//     if (!result.multi_arena.empty()) use(result.multi_arena.best().arenas, result.multi_arena.best().bytes);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "census.hpp"
#include "event_source.hpp"
#include "multi_arena_front.hpp"
#include "realtime_fit.hpp"

namespace acre::tool {

/// A site whose objects stay live in arenas that are otherwise empty.
struct blocking_site {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

struct blocker_figures {
    std::vector<blocking_site> sites;  // sites to leave out, worst first; empty: none
    acre::multi_arena_fit with{};      // all sites, at one size of arenas
    acre::multi_arena_fit without{};   // the same size without these sites
    multi_arena_front front;           // all sizes without these sites
};

/// Maps the stack of an allocation to the number of its site.
using site_of_stack = std::function<std::uint32_t(std::uint32_t)>;

/// Finds the fewest sites, with at most 5 % of the objects, without which half of the arenas suffice.
blocker_figures find_blockers(const event_source& source, const census& of, const multi_arena_front& front,
                              const front_options& options, const site_of_stack& site);

/// What to look for. The first pass gives the sizes of arenas and pools in any case.
struct fit_request {
    std::size_t open = 0;  // of acre::multi_arena_options
    bool multi_arena = true;
    bool blockers = true;  // look for sites that keep multi_arenas busy
    bool concurrent_multi_arena = true;
    bool only_for_threads = true;  // no concurrent_multi_arena if only one thread allocates and frees
    bool realtime_heap = true;
};

struct fit_result {
    census figures;
    multi_arena_front multi_arena;
    blocker_figures blockers;
    multi_arena_front concurrent_multi_arena;
    realtime_fit realtime_heap;
};

fit_result fit(const event_source& source, const fit_request& request, const site_of_stack& site);

}  // namespace acre::tool
