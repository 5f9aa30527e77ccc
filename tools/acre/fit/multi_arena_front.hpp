// The numbers and sizes of arenas with which a selection is never refused anything: for each size the fewest.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "census.hpp"
#include "event_source.hpp"
#include "multi_arena_trials.hpp"

namespace acre::tool {

struct front_options {
    std::size_t open = 0;  // as of acre::multi_arena_options
    arena_sharing sharing = arena_sharing::one_thread;
    object_rank rank;            // see multi_arena_trials.hpp
    std::uint32_t left_out = 0;  // ranks
};

struct multi_arena_front {
    std::vector<acre::multi_arena_fit> tried;  // by size, smallest first
    std::vector<acre::multi_arena_fit> pairs;  // those that no other beats both in number and in size
    std::size_t smallest = 0;                  // of the pairs: the one that takes the least memory in all
    std::string impossible;                    // why there is none, in words; else empty
    std::uint32_t culprit = no_stack;          // of the allocation that makes it so

    bool empty() const noexcept { return pairs.empty(); }
    const acre::multi_arena_fit& best() const noexcept { return pairs[smallest]; }
};

/// Bytes that the type takes from upstream, its records included.
std::uint64_t required_bytes(const acre::multi_arena_fit& pair, arena_sharing sharing);

/// Sizes from that of the largest object to where few arenas are enough: two in each doubling, and more around the
/// best.
multi_arena_front find_front(const event_source& source, const census& of, const front_options& options = {});

/// The size among those tried whose arenas hold about so many objects of average size.
std::uint64_t size_for_objects(const multi_arena_front& front, const census& of, std::uint64_t objects);

}  // namespace acre::tool
