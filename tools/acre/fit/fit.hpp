// How large each type must be for a selection of allocations: the whole of `acre fit` but its printing and its check.
//
// Give it the events of a selection; it reads them some four to eight times. Memory: 256 MiB at most for what it tries
// at once, and some 100 bytes a live object.
//
//     const fit_result result = fit([&](const auto& visit) { reader.for_each(visit); }, {}, site_of_stack);
//     if (!result.multi_arena.empty()) use(result.multi_arena.best().arenas, result.multi_arena.best().bytes);
#pragma once

#include <cstdint>
#include <optional>

#include "blockers.hpp"
#include "census.hpp"
#include "event_source.hpp"
#include "heap_bound.hpp"
#include "multi_arena_front.hpp"

namespace acre::tool {

/// What to look for; the sizes of arenas and pools come with the first reading.
struct fit_request {
    std::size_t open = 0;  // of acre::multi_arena_options
    bool multi_arena = true;
    bool blockers = true;  // of the multi_arena
    bool concurrent_multi_arena = true;
    bool only_for_threads = true;  // no concurrent_multi_arena where one thread allocates and frees
};

struct fit_result {
    census figures;
    multi_arena_front multi_arena;
    blocker_figures blockers;
    multi_arena_front concurrent_multi_arena;
};

fit_result fit(const event_source& source, const fit_request& request, const site_of_stack& site);

}  // namespace acre::tool
