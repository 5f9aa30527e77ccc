// An acre::arena in numbers: how many bytes its first block needs so that no second one is taken.
//
// As arena.hpp counts: sizes are rounded up to 8 bytes, only what was allocated last comes back when it is freed, and
// the block has a header. Blocks begin at multiples of 16; for a stricter alignment the worst such address is assumed,
// so what is said then suffices but may be some bytes too many.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstdint>

namespace acre::tool {

class arena_model {
public:
    /// Bytes from the start of the block.
    using place = std::uint64_t;

    /// No block is smaller.
    static constexpr std::uint64_t smallest_block = 32;

    place allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept {
        place start = align_up(position_, std::min(alignment, block_alignment));
        if (alignment > block_alignment) start = align_up(position_, block_alignment) + alignment - block_alignment;
        position_ = start + rounded(bytes);
        capacity_ = std::max(capacity_, position_);
        return start;
    }

    void release(place at, std::uint64_t bytes) noexcept {
        if (at + rounded(bytes) == position_) position_ = at;
    }

    /// Takes everything back and forgets what was needed so far.
    void reset() noexcept { *this = arena_model{}; }

    /// `first_block_bytes` with which all since the last reset lies in one block.
    std::uint64_t capacity() const noexcept { return std::max(capacity_, smallest_block); }

private:
    static constexpr std::uint64_t block_alignment = default_alignment;
    // What required_bytes says for an allocation without padding is the header and the allocation.
    static constexpr std::uint64_t header_bytes =
        acre::arena::required_bytes(1, acre::arena::granule, 1) - acre::arena::granule;

    static std::uint64_t rounded(std::uint64_t bytes) noexcept {
        return align_up(bytes + (bytes == 0), acre::arena::granule);
    }

    place position_ = header_bytes;
    std::uint64_t capacity_ = 0;
};

}  // namespace acre::tool
