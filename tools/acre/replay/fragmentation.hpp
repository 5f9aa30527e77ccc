// Fragments malloc's heap as a long-running program does: allocates many blocks of the sizes to come and frees half.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "sequence.hpp"

namespace acre::tool {

/// How many blocks to fragment the heap with: twenty for each slot of the sequence, within limits that keep a round
/// short.
inline std::uint32_t fragmentation_blocks(const sequence_view& sequence) {
    return std::clamp<std::uint32_t>(std::min(sequence.slots, 100'000U) * 20, 10'000, 1'000'000);
}

/// Allocates `count` blocks and frees half of them; the rest stays until the process ends. The seed is always the same,
/// so rounds are alike.
inline void fragment_heap(const sequence_view& sequence, std::uint32_t count) {
    constexpr std::uint64_t max_bytes = std::uint64_t{128} << 20;
    constexpr std::size_t large_bytes = std::size_t{120} << 10;  // below what glibc maps
    // By shape: the number of steps with that shape or an earlier one.
    std::vector<std::uint64_t> ends(sequence.uses.size());
    std::partial_sum(sequence.uses.begin(), sequence.uses.end(), ends.begin());
    if (count == 0 || ends.empty()) return;
    std::mt19937 random{20'26};
    std::vector<void*> blocks;
    blocks.reserve(count);
    std::uint64_t bytes_left = max_bytes;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto like = std::upper_bound(ends.begin(), ends.end(), random() % ends.back());
        const std::uint64_t bytes = sequence.shapes[static_cast<std::size_t>(like - ends.begin())].bytes;
        if (bytes > bytes_left) continue;
        bytes_left -= bytes;
        blocks.push_back(std::malloc(static_cast<std::size_t>(bytes)));
    }
    for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random() % i]);
    for (std::size_t i = blocks.size() / 2; i < blocks.size(); ++i) std::free(blocks[i]);
    // A large request makes glibc merge and sort the freed blocks. In a long-running program that has already happened;
    // here the first resource to request a large block, such as an arena, would be charged for it.
    void* volatile large = std::malloc(large_bytes);  // volatile: else the compiler removes the pair
    std::free(large);
}

}  // namespace acre::tool
