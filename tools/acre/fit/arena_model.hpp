// Models an acre::arena: how many bytes its first block needs so that no second block is taken.
//
// As in arena.hpp, sizes are rounded up to 8 bytes, only the last allocation can be freed, and the block has a header.
// Blocks begin at multiples of 16; for stricter alignments the worst address is assumed, so the result suffices but may
// be a few bytes too large.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstdint>

namespace acre::tool {

class arena_model {
public:
    /// Offset from the start of the block.
    using offset = std::uint64_t;

    /// The smallest block.
    static constexpr std::uint64_t smallest_block = 32;

    offset allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept {
        offset start = align_up(position_, std::min(alignment, block_alignment));
        if (alignment > block_alignment) start = align_up(position_, block_alignment) + alignment - block_alignment;
        position_ = start + rounded(bytes);
        capacity_ = std::max(capacity_, position_);
        return start;
    }

    void release(offset at, std::uint64_t bytes) noexcept {
        if (at + rounded(bytes) == position_) position_ = at;
    }

    /// Frees everything and forgets the capacity so far.
    void reset() noexcept { *this = arena_model{}; }

    /// The first_block_bytes for which all allocations since the last reset fit in one block.
    std::uint64_t capacity() const noexcept { return std::max(capacity_, smallest_block); }

private:
    static constexpr std::uint64_t block_alignment = default_alignment;
    // required_bytes of an allocation without padding is header plus allocation.
    static constexpr std::uint64_t header_bytes =
        acre::arena::required_bytes(1, acre::arena::granule, 1) - acre::arena::granule;

    static std::uint64_t rounded(std::uint64_t bytes) noexcept {
        return align_up(bytes + (bytes == 0), acre::arena::granule);
    }

    offset position_ = header_bytes;
    std::uint64_t capacity_ = 0;
};

}  // namespace acre::tool
