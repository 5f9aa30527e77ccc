// What a fit counts in a selection before it tries sizes: peaks, sizes and generations of objects, and from these the
// sizes of arenas and pools.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "event_source.hpp"

namespace acre::tool {

/// Objects of one size.
struct size_use {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;  // the strictest
    std::uint64_t objects = 0;
    std::uint64_t peak_objects = 0;  // peak of live objects
    std::uint64_t live = 0;
};

/// Generations are periods from no live object to no live object. Sizes: capacity of an arena reset after each of them.
struct generation_sizes {
    std::uint64_t count = 0;  // of generations that ended
    std::uint64_t objects = 0;
    std::uint64_t p50_bytes = 0;  // capacity; at most 1 % too large if there are very many different ones
    std::uint64_t p99_bytes = 0;
    std::uint64_t max_bytes = 0;  // exact, includes a last generation that did not end
};

struct census {
    /// Pools are not offered for larger objects.
    static constexpr std::uint64_t largest_slot = 4096;
    static constexpr std::size_t size_classes = 65;  // class n: sizes below 2^n and not in a smaller class

    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t never_freed = 0;
    std::uint64_t peak_objects = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_granules = 0;    // peak_bytes in granules of 16 bytes, each size rounded up
    std::uint64_t threads = 0;          // that allocate
    std::uint64_t freed_elsewhere = 0;  // by another thread
    std::uint64_t largest = 0;
    std::uint32_t largest_stack = no_stack;
    std::uint64_t strictest = 0;  // alignment
    std::uint32_t strictest_stack = no_stack;
    std::array<std::uint64_t, size_classes> objects_of_class{};

    std::uint64_t arena_bytes = 0;  // capacity of an arena that is never reset
    generation_sizes generations;
    std::vector<size_use> sizes;  // up to largest_slot, most bytes at the peak first
    size_use larger;              // all others
};

/// Reads all events once. Memory in proportion to the live objects. Throws tool_error if a size is impossible.
census take_census(const event_source& source);

/// Memory that half-fit, a constant-time heap, needs in the worst case, in whatever order allocations and frees come:
/// 2 M (1 + ceil(log2 n)) for M live bytes at the peak and a largest allocation n times the smallest. Half-fit rounds
/// free fragments to powers of two; its bookkeeping comes on top. (J. Herter, "Timing-predictable memory allocation in
/// hard real-time systems", 2014; J. M. Robson, "Worst case fragmentation of first fit and best fit storage allocation
/// strategies", 1977; o1heap's documentation has both.)
/// Arguments and result are multiples of the smallest allocation.
constexpr std::uint64_t half_fit_bound(std::uint64_t peak_granules, std::uint64_t largest_granules) noexcept {
    const auto doublings = static_cast<std::uint64_t>(largest_granules <= 1 ? 0 : std::bit_width(largest_granules - 1));
    return 2 * peak_granules * (1 + doublings);
}

}  // namespace acre::tool
