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
    std::uint32_t left_out = 0;  // leave out objects of a lower rank
};

/// The smallest sufficient number of arenas of a size; nothing if they would take more than 64 GiB.
using arenas_needed = std::optional<std::uint64_t>;

enum class arena_sharing : std::uint8_t {
    one_thread,   // acre::multi_arena or inline_multi_arena; several threads share it behind a lock
    all_threads,  // acre::concurrent_multi_arena
};

/// Rank of an object by its allocation; without a function every object has the highest rank.
using object_rank = std::function<std::uint32_t(const event&)>;

/// Tries all sizes, several in one pass over the events, within about 256 MiB or 40 bytes per live object.
std::vector<arenas_needed> try_multi_arenas(const event_source& source, const census& of,
                                            std::span<const multi_arena_trial> trials,
                                            arena_sharing sharing = arena_sharing::one_thread,
                                            const object_rank& rank = {});

struct front_options {
    std::size_t open = 0;  // see acre::multi_arena_options
    arena_sharing sharing = arena_sharing::one_thread;
    object_rank rank{};
    std::uint32_t left_out = 0;         // ranks
    bool between_powers_of_two = true;  // also sizes of three quarters of a power, at first
    std::uint64_t finer_steps = 16;     // between the neighbours of the best
};

struct multi_arena_front {
    std::vector<acre::multi_arena_fit> tried;  // by size, smallest first
    std::vector<acre::multi_arena_fit> pairs;  // pairs that no other beats in both number and size
    std::size_t smallest = 0;                  // index of the pair with the smallest total memory
    std::string impossible;                    // why there are no pairs; else empty
    std::uint32_t culprit = no_stack;          // of the allocation that makes it impossible

    bool empty() const noexcept { return pairs.empty(); }
    const acre::multi_arena_fit& best() const noexcept { return pairs[smallest]; }
};

/// Bytes that the type takes from upstream, including its bookkeeping.
std::uint64_t required_bytes(const acre::multi_arena_fit& pair, arena_sharing sharing);

/// Tries sizes from that of the largest object up to where few arenas suffice: one or two per doubling, and more around
/// the best.
multi_arena_front find_front(const event_source& source, const census& of, const front_options& options = {});

/// The size tried whose arenas hold about that many objects of average size.
std::uint64_t size_for_objects(const multi_arena_front& front, const census& of, std::uint64_t objects);

}  // namespace acre::tool
