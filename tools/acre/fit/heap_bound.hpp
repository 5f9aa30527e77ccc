// What a constant-time heap needs at worst, in whatever order allocations and frees come.
//
// The bound is that of half-fit, which takes fragments of powers of two: 2 M (1 + ceil(log2 n)) for M bytes alive at
// the peak and a largest allocation of n of the smallest ones (J. Herter, "Timing-predictable memory allocation in hard
// real-time systems", 2014; J. M. Robson, "Worst case fragmentation of first fit and best fit storage allocation
// strategies", 1977; o1heap's documentation has both). The bookkeeping of a heap comes on top.
#pragma once

#include <bit>
#include <cstdint>

namespace acre::tool {

/// `peak_granules` and `largest_granules` are multiples of the smallest allocation; the result is one, too.
constexpr std::uint64_t half_fit_bound(std::uint64_t peak_granules, std::uint64_t largest_granules) noexcept {
    const auto doublings = static_cast<std::uint64_t>(largest_granules <= 1 ? 0 : std::bit_width(largest_granules - 1));
    return 2 * peak_granules * (1 + doublings);
}

}  // namespace acre::tool
