// Runs the events of a selection through many multi-arenas at once, each of another size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

}  // namespace acre::tool
