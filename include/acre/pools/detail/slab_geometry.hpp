// How slots lie in slabs: the arithmetic of bitmap_slabs, constexpr and without state, so that a pool of a compile-time
// size keeps none of it in memory.
//
// A slab has a power of two in bytes and is aligned to its size: clearing the low bits of a pointer gives the slab.
// Slots tile it from its first byte. Its header, with one byte per slot, covers some of the slots within the first
// 4 KiB. The header's offset depends on the slab's address; at equal offsets the headers of all slabs would compete for
// the same few cache sets.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/sanitizer.hpp>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// Sizes of slots and slabs, in bytes, and the positions that follow from them.
struct slab_geometry {
    std::size_t slot_bytes = 0;
    std::size_t stride = 0;            // from one slot to the next: slot_bytes, and a redzone in builds that poison
    std::size_t slab_bytes = 0;        // of a full slab; also the alignment of every slab
    int slab_shift = 0;                // log2 of slab_bytes
    std::size_t first_slab_bytes = 0;  // of the first, shorter, slab: a pool of three objects holds a few KiB
    std::uint64_t reciprocal = 0;      // 2^32 / stride rounded up: exact for offsets that are multiples of stride
    std::size_t prefetch_bytes = 0;    // distance from a slot handed out to the prefetched address
    std::size_t gathered_slots = 0;    // upper limit of free slots gathered at once
    std::size_t covered = 0;           // slots reserved for the header: what it covers at its worst offset

    static constexpr std::size_t smallest_slot = 8;
    /// Number of slots whose map bytes are read at once.
    static constexpr std::size_t group_slots = 64;
    /// Upper limit of the bytes of free slots gathered at once. A program that allocates and frees in turns then reuses
    /// a few slots that are in the cache instead of walking through a slab of large ones.
    static constexpr std::size_t gathered_bytes = 16_KiB;
    /// Headers lie at `colours` different multiples of a cache line.
    static constexpr std::size_t header_line = 64;
    /// Header bytes in front of the map (see bitmap_slabs::slab): a line that threads read while others write the map.
    static constexpr std::size_t header_front = header_line;
    static constexpr std::size_t colours = 32;

    /// The layout for slots of at least `size` bytes, 1 or more, aligned to `alignment`, a power of two.
    static constexpr slab_geometry of(std::size_t size, std::size_t alignment) noexcept {
        const std::size_t step = poisoning ? detail::max(alignment, poison_granule) : alignment;
        const std::size_t slot = align_up(detail::max(size, smallest_slot), step);
        // Rounded up, so that slots are aligned as without a redzone.
        const std::size_t stride = align_up(slot + redzone_bytes, slot & (0 - slot));
        slab_geometry result;
        result.slot_bytes = slot;
        result.stride = stride;
        result.slab_bytes = slab_bytes_for(slot);
        result.slab_shift = std::countr_zero(result.slab_bytes);
        result.first_slab_bytes = detail::min(result.slab_bytes, detail::max(4_KiB, std::bit_ceil(4 * stride)));
        result.reciprocal = ((std::uint64_t{1} << 32) + stride - 1) / stride;
        result.prefetch_bytes = detail::max<std::size_t>(2 * stride, 128);
        result.gathered_slots = result.slab_bytes <= gathered_bytes
                                    ? group_slots
                                    : detail::clamp<std::size_t>(gathered_bytes / slot, 1, group_slots);
        result.covered = result.max_covered();
        assert((colours - 1) * header_line + result.header_bytes() <= result.first_slab_bytes);
        return result;
    }

    /// Alignment of every slot: the largest power of two that divides its size, up to the alignment of a slab.
    constexpr std::size_t slot_alignment() const noexcept {
        return detail::min(slot_bytes & (0 - slot_bytes), slab_bytes);
    }

    /// Start of the slab that `address` lies in.
    constexpr std::uintptr_t slab_start(std::uintptr_t address) const noexcept {
        return align_down(address, slab_bytes);
    }

    /// Address of the header of the slab that `address` lies in.
    [[gnu::always_inline]] constexpr std::uintptr_t header_address(std::uintptr_t address) const noexcept {
        return slab_start(address) + colour(address, slab_shift) * header_line;
    }
    template <std::size_t SlabBytes>
    [[gnu::always_inline]] static constexpr std::uintptr_t header_address(std::uintptr_t address) noexcept {
        return align_down(address, SlabBytes) + colour(address, std::countr_zero(SlabBytes)) * header_line;
    }

    /// A number whose integral part, above its low 32 bits, is the number of the slot that begins at `address`. The
    /// rest, the fraction, tells whether a slot does.
    [[gnu::always_inline]] constexpr std::uint64_t slot_number(std::uintptr_t address) const noexcept {
        return slot_number(address, slab_bytes, reciprocal);
    }
    [[gnu::always_inline]] static constexpr std::uint64_t slot_number(std::uintptr_t address, std::size_t slab_bytes,
                                                                      std::uint64_t reciprocal) noexcept {
        return (address & (slab_bytes - 1)) * reciprocal;
    }
    static constexpr std::size_t integral_part(std::uint64_t slot_number) noexcept {
        return narrowed<std::size_t>(slot_number >> 32);
    }
    /// Number of the slot that begins at `address`.
    [[gnu::always_inline]] constexpr std::size_t slot_index(std::uintptr_t address) const noexcept {
        return integral_part(slot_number(address));
    }

    /// True when a slot begins at `address`; false for an address in its middle. Always inline, as all in the way of a
    /// free: a compiler that is short of budget would call a function that counts the bits of a constant.
    [[gnu::always_inline]] constexpr bool begins_slot(std::uintptr_t address) const noexcept {
        // Not has_single_bit: on processors that cannot count bits it is a call.
        if ((stride & (stride - 1)) == 0) return (address & (stride - 1)) == 0;
        if (!fraction_is_exact()) return slot_index(address) * stride == (address & (slab_bytes - 1));
        return begins_slot(slot_number(address), static_cast<std::uint32_t>(reciprocal));
    }
    /// As above, for a geometry whose fraction_is_exact(). The fraction of a multiple of the stride is nearly 0: the
    /// reciprocal was rounded up by less than 1 / 2^32. Any other offset adds at least the reciprocal to that (Lemire,
    /// Kaser and Kurz, "Faster remainder by direct computation", 2019).
    static constexpr bool begins_slot(std::uint64_t slot_number, std::uint32_t reciprocal) noexcept {
        return static_cast<std::uint32_t>(slot_number) < reciprocal;
    }
    constexpr bool fraction_is_exact() const noexcept {
        return std::uint64_t{slab_bytes} * stride < std::uint64_t{1} << 31;
    }

    /// Slots in a slab of `bytes` bytes, including those under the header.
    constexpr std::size_t slots(std::size_t bytes) const noexcept { return bytes / stride; }

    /// Groups of slots in a slab of `bytes` bytes; what is left behind the last slot counts as one.
    constexpr std::size_t groups(std::size_t bytes) const noexcept {
        return ((bytes + stride - 1) / stride + group_slots - 1) / group_slots;
    }

    /// Bytes of a slab's header with its map; the same for every slab of a pool.
    constexpr std::size_t header_bytes() const noexcept { return map_end() + redzone_bytes; }
    /// Bytes from a header's begin to the end of its map, of which a short slab uses the beginning.
    constexpr std::size_t map_end() const noexcept { return header_front + groups(slab_bytes) * group_slots; }

    /// Index of the first slot under the header of the slab at `start`.
    constexpr std::size_t first_covered(std::uintptr_t start) const noexcept {
        return colour(start, slab_shift) * header_line / stride;
    }

    /// Slots that a slab of `bytes` bytes can hand out.
    constexpr std::size_t usable(std::size_t bytes) const noexcept { return slots(bytes) - covered; }

private:
    static constexpr std::size_t slab_bytes_for(std::size_t slot) noexcept {
        if (slot <= 256) return 16_KiB;
        // Large slots: enough of them that losing one to the header is cheap; few enough that the slab's alignment,
        // which is its size, does not cost an upstream more in gaps than the pool takes itself.
        return std::bit_ceil(slot * (slot <= 16_KiB ? 32 : 16));
    }

    static constexpr std::size_t colour(std::uintptr_t address, int slab_shift) noexcept {
        return (address >> slab_shift) % colours;
    }

    constexpr std::size_t max_covered() const noexcept {
        // No calls in the loop: compilers evaluate it for each size class.
        const std::size_t header = header_bytes();
        std::size_t most = 0;
        for (std::size_t offset = 0; offset < colours * header_line; offset += header_line) {
            const std::size_t slots = (offset + header - 1) / stride - offset / stride + 1;
            if (slots > most) most = slots;
        }
        return most;
    }
};

}  // namespace acre::detail
