// Which sites keep arenas busy: their few objects outlive the rest, and an arena is used again only when nothing in it
// lives.
#pragma once

#include <cstdint>
#include <functional>
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

}  // namespace acre::tool
