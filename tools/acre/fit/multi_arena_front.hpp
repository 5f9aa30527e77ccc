// The numbers and sizes of arenas that serve every request of a selection: for each size the smallest number.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "census.hpp"
#include "event_source.hpp"

namespace acre::tool {

/// Arenas of one size.
struct multi_arena_trial {
    std::uint64_t bytes = 0;  // a multiple of 16 and of every alignment, no smaller than any object
    std::size_t open = 0;
    std::uint32_t left_out = 0;  // objects of a lower rank are not allocated there
};

/// How many arenas of that size are the fewest; nothing when they would take more than 64 GiB.
using arenas_needed = std::optional<std::uint64_t>;

enum class arena_sharing : std::uint8_t {
    one_thread,   // acre::multi_arena, or inline_multi_arena; of several threads, behind a lock
    all_threads,  // acre::concurrent_multi_arena
};

/// Rank of an object by its allocation; without one each has the highest.
using object_rank = std::function<std::uint32_t(const event&)>;

/// Reads the events as often as it takes to keep its memory below some 256 MiB or 40 bytes for each live object.
std::vector<arenas_needed> try_multi_arenas(const event_source& source, const census& of,
                                            std::span<const multi_arena_trial> trials,
                                            arena_sharing sharing = arena_sharing::one_thread,
                                            const object_rank& rank = {});

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
