// Fragments malloc's heap as a long-running program does: many blocks of the sizes to come, of which half are freed.
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

/// So many blocks that those the sequence has alive find their places among twenty times as many; few enough for a
/// round to be short.
inline std::uint32_t litter_blocks(const sequence_view& sequence) {
    return std::clamp<std::uint32_t>(std::min(sequence.slots, 100'000U) * 20, 10'000, 1'000'000);
}

/// What is not freed lies about until the process ends. The same seed every time, so that rounds are alike.
inline void litter_heap(const sequence_view& sequence, std::uint32_t count) {
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
    constexpr std::size_t large_bytes = std::size_t{120} << 10;  // below what glibc maps
    // By shape: steps that have it or one before it.
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
    // A large request makes glibc put together and sort what was freed. In a program that has run for long that has
    // been done; here it would be charged to the first that asks for a large block, such as an arena.
    void* volatile large = std::malloc(large_bytes);  // volatile: the pair would be left out
    std::free(large);
}

}  // namespace acre::tool
