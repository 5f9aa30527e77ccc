// How an acre::arena grows.
#pragma once

#include <acre/core/literals.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace acre {

/// How an arena grows.
struct arena_options {
    std::size_t first_block_bytes = 0;  // of the first block taken from upstream, at least 32; 0: 4 KiB, if that may be
    std::size_t max_block_bytes = 0;    // blocks double up to this, at least first_block_bytes; 0: 1 MiB, or the first
    std::size_t limit_bytes = SIZE_MAX;  // never holds more than this from upstream

    /// The same with what was left to the arena put in.
    constexpr arena_options completed() const noexcept {
        arena_options all = *this;
        if (all.first_block_bytes == 0)
            all.first_block_bytes = max_block_bytes == 0 ? 4_KiB : std::min(4_KiB, max_block_bytes);
        if (all.max_block_bytes == 0) all.max_block_bytes = std::max(1_MiB, all.first_block_bytes);
        return all;
    }
};

}  // namespace acre
