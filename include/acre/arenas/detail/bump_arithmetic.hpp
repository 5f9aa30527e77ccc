// How requests fit equal arenas that begin at multiples of a granule of 16 bytes: sizes rounded, padding at worst, and
// how many arenas so many allocations need.
//
// Used by acre::multi_arena and acre::concurrent_multi_arena, not directly. Cost: a handful of instructions each, no
// state; nothing wraps. Everything is constexpr.
#pragma once

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The arithmetic of arenas in storage that begins at a multiple of at most `MostAlignment` bytes.
template <std::size_t MostAlignment>
struct bump_arithmetic {
    /// Every size, an arena's as well, is rounded up to a multiple of this many bytes, so requests aligned to no more
    /// need no padding.
    static constexpr std::size_t granule = default_alignment;

    /// Bytes that a request for `bytes` bytes takes, padding apart.
    static constexpr std::size_t rounded(std::size_t bytes) noexcept { return align_up(bytes + (bytes == 0), granule); }
    /// The same for what fits, and is not for no bytes.
    static constexpr std::size_t rounded_one_or_more(std::size_t bytes) noexcept {
        return ((bytes - 1) | (granule - 1)) + 1;
    }

    /// True when `bytes` bytes, and not none, fit `room` bytes: a request for no bytes is taken for a huge one, which
    /// leaves it to the rare paths.
    static constexpr bool fits(std::size_t bytes, std::size_t room) noexcept { return bytes - 1 < room; }

    /// True for the alignments that every start in an arena has.
    static constexpr bool is_ordinary(std::size_t alignment) noexcept {
        // A bit for each power of two up to the granule.
        constexpr std::uint32_t powers = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16;
        static_assert(granule == 16);
        return alignment <= granule && (powers >> alignment & 1) != 0;
    }

    /// What arenas of `room` bytes are all aligned to, in bytes: storage begins at a multiple of no more than a page.
    static constexpr std::size_t base_alignment_of(std::size_t room) noexcept {
        return std::min(room & (0 - room), MostAlignment);
    }

    /// Bytes skipped at most at the start of an empty arena whose start is aligned to `base`.
    static constexpr std::size_t worst_padding(std::size_t alignment, std::size_t base) noexcept {
        return alignment > base ? alignment - base : 0;
    }

    /// Bytes that a request takes at most of an empty arena of `room` bytes; SIZE_MAX when there cannot be so many.
    static constexpr std::size_t worst_bytes(std::size_t bytes, std::size_t alignment, std::size_t room) noexcept {
        // Arenas begin at multiples of the granule.
        const std::size_t skipped = worst_padding(alignment, base_alignment_of(room));
        return bytes > SIZE_MAX - skipped - 1 ? SIZE_MAX : bytes + (bytes == 0) + skipped;
    }

    /// Arenas of `arena_bytes` bytes that hold `count` live allocations of `size` bytes aligned to `alignment`, all of
    /// them allocated before the first is freed. SIZE_MAX when an arena cannot hold even one.
    static constexpr std::size_t required_arenas(std::size_t arena_bytes, std::size_t count, std::size_t size,
                                                 std::size_t alignment) noexcept {
        const std::size_t room = align_up(arena_bytes, granule);
        if (size > room) return SIZE_MAX;
        const std::size_t first = worst_bytes(rounded(size), alignment, room);
        if (first > room) return SIZE_MAX;
        const std::size_t step = align_up(rounded(size), alignment);
        const std::size_t each = 1 + (room - first) / step;
        return count / each + (count % each != 0);
    }
};

}  // namespace acre::detail
