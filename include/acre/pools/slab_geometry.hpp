// How slots lie in the slabs of a pool: the arithmetic of acre::bitmap_slabs, constexpr and without state, so that a
// pool of a compile-time size keeps none of it in memory.
//
// A slab is a power of two in bytes, aligned to its size: clearing the low bits of a pointer gives the slab. Slots tile
// it from its first byte. Its header lies over some of the slots, within the first 4 KiB, at an offset taken from the
// slab's own address: headers of slabs aligned alike would otherwise compete for the same few cache sets.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/core/size_literals.hpp>
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre {

/// Sizes of slots and slabs, in bytes, and the positions that follow from them.
struct slab_geometry {
    std::size_t slot_bytes = 0;
    std::size_t slab_bytes = 0;        // of a full slab; also the alignment of every slab
    int slab_shift = 0;                // log2 of slab_bytes
    std::size_t first_slab_bytes = 0;  // of the first, shorter, slab: a pool of three objects holds a few KiB
    std::uint64_t reciprocal = 0;  // 2^32 / slot_bytes rounded up: exact for offsets that are multiples of slot_bytes

    /// How far ahead of a slot handed out the cache is told to fetch.
    std::size_t prefetch_bytes = 0;

    /// Slots whose bits fit in one word of the bitmap.
    static constexpr std::size_t word_slots = 64;
    /// Words that a slab's summary can speak of.
    static constexpr std::size_t max_words = 64;
    /// Headers lie at multiples of a cache line within this many bytes of their slab's start.
    static constexpr std::size_t header_span = 4_KiB;
    static constexpr std::size_t header_line = 64;
    /// Header bytes besides the bitmap, of which the first three words come before it (see bitmap_slabs::slab).
    static constexpr std::size_t header_words = 3;
    static constexpr std::size_t trailer_words = 3;

    /// The layout for slots of at least `size` bytes (at least 1) aligned to `alignment`, a power of two.
    static constexpr slab_geometry of(std::size_t size, std::size_t alignment) noexcept {
        const std::size_t step = poisoning ? std::max(alignment, poison_granule) : alignment;
        const std::size_t slot = align_up(size, step);
        slab_geometry result;
        result.slot_bytes = slot;
        result.slab_bytes = slab_bytes_for(slot);
        result.slab_shift = std::countr_zero(result.slab_bytes);
        result.first_slab_bytes = std::min(result.slab_bytes, std::max(header_span, std::bit_ceil(4 * slot)));
        result.prefetch_bytes = std::max<std::size_t>(2 * slot, 128);
        result.reciprocal = ((std::uint64_t{1} << 32) + slot - 1) / slot;
        return result;
    }

    /// Start of the slab that `address` lies in.
    constexpr std::uintptr_t slab_start(std::uintptr_t address) const noexcept {
        return align_down(address, slab_bytes);
    }

    /// Address of the header of the slab that `address` lies in.
    constexpr std::uintptr_t header_address(std::uintptr_t address) const noexcept {
        return slab_start(address) + colour(address) * header_line;
    }

    /// Number of the slot that begins at `address`.
    constexpr std::size_t slot_index(std::uintptr_t address) const noexcept {
        return static_cast<std::size_t>(((address & (slab_bytes - 1)) * reciprocal) >> 32);
    }

    /// Slots that tile a slab of `bytes` bytes, the header's included.
    constexpr std::size_t slots(std::size_t bytes) const noexcept { return bytes / slot_bytes; }

    /// Words in the bitmap of a slab; the same for every slab of a pool.
    constexpr std::size_t words() const noexcept { return (slots(slab_bytes) + word_slots - 1) / word_slots; }

    /// Bytes of a slab's header with its bitmap.
    constexpr std::size_t header_bytes() const noexcept {
        return (header_words + words() + trailer_words) * sizeof(std::uint64_t);
    }

    /// First slot that the header of the slab at `start` covers.
    constexpr std::size_t first_covered(std::uintptr_t start) const noexcept {
        return colour(start) * header_line / slot_bytes;
    }

    /// Slots set aside for the header: the most that it covers at any of its positions.
    constexpr std::size_t covered() const noexcept {
        const std::size_t header = header_bytes();
        std::size_t most = 0;
        for (std::size_t offset = 0; offset < header_span; offset += header_line) {
            most = std::max(most, (offset + header - 1) / slot_bytes - offset / slot_bytes + 1);
        }
        return most;
    }

    /// Slots that a slab of `bytes` bytes can hand out.
    constexpr std::size_t usable(std::size_t bytes) const noexcept { return slots(bytes) - covered(); }

    /// Bits of the slots that can be handed out, for word `word` of the slab of `bytes` bytes at `start`.
    constexpr std::uint64_t usable_mask(std::uintptr_t start, std::size_t bytes, std::size_t word) const noexcept {
        const std::size_t first = first_covered(start);
        return bits_between(0, slots(bytes), word) & ~bits_between(first, first + covered(), word);
    }

private:
    static constexpr std::size_t slab_bytes_for(std::size_t slot) noexcept {
        // Small slots: as many as the summary can speak of. Large ones: enough that the header's slot is one of many.
        if (slot <= 256) return std::min(16_KiB, std::bit_floor(slot * word_slots * max_words));
        return std::bit_ceil(slot * (slot <= 16_KiB ? 64 : 16));
    }

    constexpr std::size_t colour(std::uintptr_t address) const noexcept {
        return (address >> slab_shift) % (header_span / header_line);
    }

    // Bits of word `word` whose slots lie in [first, last).
    static constexpr std::uint64_t bits_between(std::size_t first, std::size_t last, std::size_t word) noexcept {
        const auto below = [word](std::size_t slot) {
            const std::size_t begin = word * word_slots;
            if (slot <= begin) return std::uint64_t{0};
            return slot - begin >= word_slots ? ~std::uint64_t{0} : (std::uint64_t{1} << (slot - begin)) - 1;
        };
        return below(last) & ~below(first);
    }
};

}  // namespace acre
