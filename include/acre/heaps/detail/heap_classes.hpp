// The slot sizes of acre::general_heap, and the layout of their slabs.
//
// Used by the library, not directly. Every multiple of 16 bytes up to 256, then eight sizes per doubling up to 32 KiB.
// Class 0 is no class: units of 16 KiB that hold no slots have it. Everything is constexpr and constant time.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// How slots of one size lie in a slab, and how many of them a thread keeps.
struct heap_class {
    std::uint32_t slot_bytes = 0;
    std::uint32_t units = 0;        // of a slab, once the class has four times as many
    std::uint32_t first_units = 0;  // of the first slabs of the class
    std::uint32_t slots = 0;        // of a slab of `units` units
    std::uint32_t inverse = 0;      // an offset in a slab times this, over 2^32, is the number of its slot
    std::uint32_t kept = 0;         // free slots that a thread keeps at most, at first
};

/// What the tables are computed from.
struct heap_class_rules {
    /// Bytes of a unit: what the heap's address space is divided into. A slab is a run of units.
    static constexpr std::size_t unit_shift = 14;
    static constexpr std::size_t unit_bytes = std::size_t{1} << unit_shift;
    /// Every slot is a multiple of it, and aligned to it.
    static constexpr std::size_t min_alignment = 16;
    /// Larger requests get runs of units.
    static constexpr std::size_t largest = 32_KiB;
    /// At most so many slots are in a slab: their bits are in its record.
    static constexpr std::size_t max_slots = 1024;
    /// At least so many of them, but in the first slabs of a class.
    static constexpr std::size_t min_slots = 8;
    static constexpr std::size_t min_first_slots = 2;

    static constexpr std::size_t next_size(std::size_t bytes) noexcept {
        std::size_t step = 16;
        for (std::size_t doubling = 256; doubling <= bytes; doubling *= 2) step = doubling / 8;
        return bytes + step;
    }

    /// With how many of the slots that the thread freed last a free is compared.
    static constexpr std::size_t compared = 2;

    /// Number of classes, class 0 included.
    static constexpr std::size_t number_of_classes() noexcept {
        std::size_t number = 1;
        for (std::size_t size = min_alignment; size <= largest; size = next_size(size)) ++number;
        return number;
    }

    static constexpr heap_class class_of_slots(std::size_t bytes) noexcept {
        std::size_t units = bytes <= 1024 ? detail::min<std::size_t>(4, bytes * max_slots / unit_bytes)
                                          : align_up(min_slots * bytes, unit_bytes) / unit_bytes;
        while (units * unit_bytes % bytes > units * unit_bytes / 32) ++units;
        const std::size_t first_units = (min_first_slots * bytes + unit_bytes - 1) / unit_bytes;
        // With the nulls below them they fill cache lines.
        const std::size_t kept = std::bit_floor(detail::clamp<std::size_t>(16_KiB / bytes, 8, 64)) - compared;
        return {static_cast<std::uint32_t>(bytes),
                static_cast<std::uint32_t>(units),
                static_cast<std::uint32_t>(first_units),
                slots_in(units, bytes),
                static_cast<std::uint32_t>((std::uint64_t{1} << 32) / bytes + 1),
                static_cast<std::uint32_t>(kept)};
    }

    /// Slots of a slab of so many units.
    static constexpr std::uint32_t slots_in(std::size_t units, std::size_t slot_bytes) noexcept {
        return static_cast<std::uint32_t>(detail::min(max_slots, units * unit_bytes / slot_bytes));
    }
};

/// The classes, and the tables that they are looked up in.
struct heap_classes : heap_class_rules {
    static constexpr std::size_t count = number_of_classes();

    static constexpr std::array<heap_class, count> layouts = [] {
        std::array<heap_class, count> result{};
        std::size_t size = min_alignment;
        for (std::size_t index = 1; index < count; ++index, size = next_size(size))
            result[index] = class_of_slots(size);
        return result;
    }();

    /// Requests of up to so many bytes are looked up in steps of 16 bytes, larger ones in steps of 64.
    static constexpr std::size_t finely_looked_up = 1024;
    static constexpr std::size_t fine_entries = finely_looked_up / 16 + 1;
    static constexpr std::size_t entries = fine_entries + (largest - finely_looked_up) / 64;

    static constexpr std::array<std::uint8_t, entries> by_entry = [] {
        std::array<std::uint8_t, entries> table{};
        std::size_t index = 1;
        for (std::size_t entry = 0; entry < entries; ++entry) {
            const std::size_t size =
                entry < fine_entries ? 16 * entry : finely_looked_up + 64 * (entry - fine_entries + 1);
            while (layouts[index].slot_bytes < size) ++index;
            table[entry] = static_cast<std::uint8_t>(index);
        }
        return table;
    }();

    /// Bytes of a slot.
    static constexpr std::size_t bytes(std::size_t index) noexcept { return layouts[index].slot_bytes; }

    /// The class of a request of at most `finely_looked_up` bytes.
    [[gnu::always_inline]] static std::size_t class_of_small(std::size_t bytes) noexcept {
        return by_entry[entry_of_small(bytes)];
    }
    [[gnu::always_inline]] static constexpr std::size_t entry_of_small(std::size_t bytes) noexcept {
        return (bytes + 15) / 16;
    }
    /// The class of a larger request of at most `largest` bytes.
    [[gnu::always_inline]] static std::size_t class_of_medium(std::size_t bytes) noexcept {
        return by_entry[fine_entries + (bytes - finely_looked_up + 63) / 64 - 1];
    }
    static std::size_t class_of(std::size_t bytes) noexcept {
        return bytes <= finely_looked_up ? class_of_small(bytes) : class_of_medium(bytes);
    }

    /// The class for `bytes` bytes aligned to `alignment`; 0: none, the request needs a run of units. Slabs are aligned
    /// to a unit and slots lie side by side, so slots are aligned to what divides their size.
    static std::size_t class_of_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment > unit_bytes || bytes > largest) return 0;
        const std::size_t rounded = align_up(detail::max<std::size_t>(bytes, 1), alignment);
        if (rounded > largest) return 0;
        std::size_t index = class_of(rounded);
        // Ends at a power of two.
        while (heap_classes::bytes(index) % alignment != 0) ++index;
        return index;
    }
};

// The number of each slot is exact, and the records have room for all.
static_assert([] {
    for (std::size_t index = 1; index < heap_classes::count; ++index) {
        const heap_class& each = heap_classes::layouts[index];
        if (each.slots > heap_classes::max_slots || each.slots < heap_classes::min_slots) return false;
        if (each.first_units == 0 || each.first_units > each.units) return false;
        for (std::uint64_t slot = 0; slot < each.slots; ++slot) {
            if (slot * each.slot_bytes * each.inverse >> 32 != slot) return false;
        }
    }
    return true;
}());

}  // namespace acre::detail
