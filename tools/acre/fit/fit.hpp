// How large each type must be for a selection of allocations: the whole of `acre fit` but its printing and its check.
//
// Give it the events of a selection; it reads them some four to eight times. Memory: 256 MiB at most for what it tries
// at once, and some 100 bytes a live object.
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

namespace acre::tool {

/// A site whose objects live on in arenas that are else empty.
struct blocking_site {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

struct blocker_figures {
    std::vector<blocking_site> sites;  // those to leave out, worst first; empty: none is to blame
    acre::multi_arena_fit with{};      // of the size that was looked at
    acre::multi_arena_fit without{};   // the same size without them
    multi_arena_front front;           // of all sizes without them
};

/// Number of the site of an allocation's stack.
using site_of_stack = std::function<std::uint32_t(std::uint32_t)>;

/// Sites of at most 5 % of the objects without which half of the arenas are enough, as few as needed.
blocker_figures find_blockers(const event_source& source, const census& of, const multi_arena_front& front,
                              const front_options& options, const site_of_stack& site);

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
