// The slabs of acre::general_heap: a depot for each size class hands out and takes back free slots many at a time.
//
// Used by the library, not directly. A depot takes a slab from the range when no slab of its class has a free slot, and
// gives it back when all its slots are free and another slab has some. Slots are handed out in ascending addresses, so
// memory that was never used is touched page by page. A free slot is not touched: its slab's record has a bit for it,
// which also notices a double free and an address inside a slot.
//
// Cost: about 10 instructions a slot each way, and one lock for each call; a new slab takes the range's lock.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <acre/heaps/detail/heap_range.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace acre::detail {

/// The range, and the lock that guards it. The lock of a depot is taken before it, never after it.
struct locked_range {
    spin_lock lock;
    heap_range range;
};

/// The slabs of one class. In a cache line of its own.
class alignas(64) heap_depot {
public:
    constexpr heap_depot() noexcept = default;
    heap_depot(const heap_depot&) = delete;
    heap_depot& operator=(const heap_depot&) = delete;

    spin_lock& lock() noexcept { return lock_; }

    /// Takes up to `wanted` slots. They lie in ascending order before `end`: the lowest is the last of them, so that a
    /// stack hands it out first. Returns how many there were.
    std::size_t take(locked_range& from, std::size_t size_class, void** begin, std::size_t wanted) noexcept {
        const std::lock_guard guard{lock_};
        heap_range& range = from.range;
        std::size_t taken = 0;
        while (taken < wanted) {
            if (partial_ == 0 && !add_slab(from, size_class)) break;
            const std::uint32_t number = partial_;
            heap_slab& slab = range.slab(number);
            taken = take_from(slab, range.address(slab.first), heap_classes::layouts[size_class].slot_bytes, begin,
                              taken, wanted);
            if (slab.free_slots == 0) unlink(range, slab);
        }
        // The lowest addresses last.
        for (std::size_t low = 0, high = taken; low + 1 < high; ++low) {
            --high;
            void* const other = begin[low];
            begin[low] = begin[high];
            begin[high] = other;
        }
        return taken;
    }

    /// Takes back `count` slots.
    void give(locked_range& to, std::size_t size_class, void* const* slots, std::size_t count,
              const char* name) noexcept {
        const std::lock_guard guard{lock_};
        heap_range& range = to.range;
        const heap_class& layout = heap_classes::layouts[size_class];
        for (std::size_t each = 0; each < count; ++each) {
            const std::uint32_t number = range.record(range.unit_of(slots[each])).number();
            heap_slab& slab = range.slab(number);
            const auto offset =
                static_cast<std::uint64_t>(static_cast<std::byte*>(slots[each]) - range.address(slab.first));
            const std::uint64_t slot = offset * layout.inverse >> 32;
            if (slot * layout.slot_bytes != offset) [[unlikely]]
                abort_on_misuse(name, mistake::inside_a_slot, slots[each]);
            const auto word = static_cast<std::size_t>(slot / 64);
            const std::uint64_t bit = std::uint64_t{1} << slot % 64;
            if ((slab.free_bits[word] & bit) != 0) [[unlikely]]
                abort_on_misuse(name, mistake::double_free, slots[each]);
            slab.free_bits[word] |= bit;
            if (word < slab.first_word) slab.first_word = static_cast<std::uint8_t>(word);
            if (slab.free_slots++ == 0) {
                link(range, number);
            } else if (slab.free_slots == slab.slots && slab.next + slab.previous != 0) {
                remove_slab(to, number);
            }
        }
    }

    /// Gives slabs back that have no slot in use. The caller holds no lock.
    void trim(locked_range& to) noexcept {
        const std::lock_guard guard{lock_};
        for (std::uint32_t each = partial_; each != 0;) {
            const std::uint32_t next = to.range.slab(each).next;
            if (to.range.slab(each).free_slots == to.range.slab(each).slots) remove_slab(to, each);
            each = next;
        }
    }

    /// Slots that are handed out, the free ones that threads keep included; and the slots of all slabs.
    struct figures {
        std::size_t handed_out = 0;
        std::size_t slots = 0;
    };
    figures count(heap_range& range) noexcept {
        const std::lock_guard guard{lock_};
        std::size_t free = 0;
        for (std::uint32_t each = partial_; each != 0; each = range.slab(each).next)
            free += range.slab(each).free_slots;
        return {slots_ - free, slots_};
    }

private:
    // Takes slots of a slab that has some.
    static std::size_t take_from(heap_slab& slab, std::byte* start, std::size_t slot_bytes, void** begin,
                                 std::size_t taken, std::size_t wanted) noexcept {
        std::size_t word = slab.first_word;
        const std::size_t before = taken;
        for (;; ++word) {
            std::uint64_t bits = slab.free_bits[word];
            std::byte* const word_start = start + word * 64 * slot_bytes;
            while (bits != 0 && taken < wanted) {
                begin[taken++] = word_start + static_cast<std::size_t>(std::countr_zero(bits)) * slot_bytes;
                bits &= bits - 1;
            }
            slab.free_bits[word] = bits;
            if (taken == wanted || taken - before == slab.free_slots) break;
        }
        slab.first_word = static_cast<std::uint8_t>(word);
        slab.free_slots -= static_cast<std::uint32_t>(taken - before);
        return taken;
    }

    [[gnu::noinline]] bool add_slab(locked_range& from, std::size_t size_class) noexcept {
        const heap_class& layout = heap_classes::layouts[size_class];
        const std::lock_guard guard{from.lock};
        heap_range& range = from.range;
        const std::uint32_t number = range.take_slab();
        if (number == 0) return false;
        bool is_zero;
        const unit_number first = range.take(layout.units, 1, is_zero);
        if (first == 0) return range.give_slab(number), false;
        for (unit_number each = first; each != first + layout.units; ++each) {
            range.record(each).set(unit_record::kind::slab, number);
            range.set_class(each, size_class);
        }
        heap_slab& slab = range.slab(number);
        slab.first = first;
        slab.units = static_cast<std::uint16_t>(layout.units);
        slab.size_class = static_cast<std::uint8_t>(size_class);
        slab.first_word = 0;
        slab.free_slots = layout.slots;
        slab.slots = layout.slots;
        for (std::size_t word = 0; word < (layout.slots + 63) / 64; ++word) slab.free_bits[word] = ~std::uint64_t{0};
        if (layout.slots % 64 != 0) slab.free_bits[layout.slots / 64] = (std::uint64_t{1} << layout.slots % 64) - 1;
        slots_ += layout.slots;
        link(range, number);
        return true;
    }

    [[gnu::noinline]] void remove_slab(locked_range& to, std::uint32_t number) noexcept {
        heap_slab& slab = to.range.slab(number);
        unlink(to.range, slab);
        slots_ -= slab.slots;
        const std::lock_guard guard{to.lock};
        for (unit_number each = slab.first; each != slab.first + slab.units; ++each) to.range.set_class(each, 0);
        const unit_number first = slab.first;
        const unit_number units = slab.units;
        to.range.give_slab(number);
        to.range.give(first, units);
    }

    void link(heap_range& range, std::uint32_t number) noexcept {
        heap_slab& slab = range.slab(number);
        slab.previous = 0;
        slab.next = partial_;
        if (partial_ != 0) range.slab(partial_).previous = number;
        partial_ = number;
    }
    void unlink(heap_range& range, heap_slab& slab) noexcept {
        if (slab.previous != 0) {
            range.slab(slab.previous).next = slab.next;
        } else {
            partial_ = slab.next;
        }
        if (slab.next != 0) range.slab(slab.next).previous = slab.previous;
    }

    spin_lock lock_;
    std::uint32_t partial_ = 0;  // slabs with a free slot
    std::size_t slots_ = 0;      // of all slabs
};

}  // namespace acre::detail

#endif
