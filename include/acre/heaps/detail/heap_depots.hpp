// The slabs of acre::general_heap: a depot for each size class hands out and takes back free slots many at a time.
//
// Used by the library, not directly. A depot takes a slab from the range when no slab of its class has a free slot, and
// gives it back when all its slots are free and another slab has some. Slots are handed out in ascending addresses, so
// memory that was never used is touched page by page. A free slot is not touched: its slab's record has a bit for it,
// which also notices a double free and an address inside a slot.
//
// Cost: 13 to 15 instructions a slot taken, 41 to 57 a slot given back (sizes up to 256 bytes), and one lock for each
// call; a new slab takes the range's lock.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <acre/heaps/detail/heap_range.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre::detail {

/// The range, and the lock that guards it. The lock of a depot is taken before it, never after it.
struct locked_range {
    spin_lock lock;
    heap_range range;
};

/// A class of slots: the number that the units of its slabs have, and the size class that its slots are of. They differ
/// where slots of one size are kept apart.
struct heap_class_number {
    std::size_t number = 0;
    std::size_t size_class = 0;
};

/// The slabs of one class. In a cache line of its own.
class alignas(64) heap_depot {
public:
    constexpr heap_depot() noexcept = default;
    heap_depot(const heap_depot&) = delete;
    heap_depot& operator=(const heap_depot&) = delete;

    spin_lock& lock() noexcept { return lock_; }

    /// Takes up to `wanted` slots into the array at `begin`, in descending order of addresses, so that a stack hands
    /// the lowest out first. Returns how many it took. Without `may_add_slab` it takes only free slots of the slabs
    /// that it has.
    std::size_t take(locked_range& from, heap_class_number of, void** begin, std::size_t wanted,
                     bool may_add_slab = true) noexcept {
        const lock_guard guard{lock_};
        if (successor_ != nullptr) [[unlikely]]
            return successor_->take(from, {of.size_class, of.size_class}, begin, wanted);
        heap_range& range = from.range;
        void** free_end = begin + wanted;
        while (free_end != begin) {
            if (partial_ == 0 && (!may_add_slab || !add_slab(from, of))) [[unlikely]]
                break;
            heap_slab& slab = range.slab(partial_);
            free_end = take_from(slab, heap_classes::bytes(of.size_class), begin, free_end);
            if (slab.free_slots == 0) unlink(range, slab);
        }
        const auto taken = static_cast<std::size_t>(begin + wanted - free_end);
        handed_out_ += taken;
        if (free_end != begin) [[unlikely]]
            std::memmove(begin, free_end, taken * sizeof(void*));
        return taken;
    }

    /// A mistake that is noticed under a lock. The caller reports it when it holds none: what reports it may allocate.
    struct noticed {
        const char* what = nullptr;  // null: no mistake
        const void* pointer = nullptr;
    };

    /// Takes back `count` slots. After a mistake those that follow stay taken.
    noticed give(locked_range& to, std::size_t size_class, void* const* slots, std::size_t count) noexcept {
        const lock_guard guard{lock_};
        if (successor_ != nullptr) [[unlikely]]
            return successor_->give(to, size_class, slots, count);
        handed_out_ -= count;
        // Copies: the compiler must take what is behind a reference for changed by each write below.
        const heap_class layout = heap_classes::layouts[size_class];
        const heap_range::unit_records units = to.range.records();
        heap_slab* slab = nullptr;
        std::size_t unit = ~std::size_t{0};
        std::byte* start = nullptr;
        for (void* const* const end = slots + count; slots != end; ++slots) {
            void* const p = *slots;
            const std::size_t now = units.unit_of(p);
            if (now != unit) {
                unit = now;
                slab = units[unit].slab_of_unit();
                // A slot that was freed twice may lie where its slab lay once.
                if (slab == nullptr || slab->size_class != size_class) [[unlikely]]
                    return {mistake::double_free, p};
                start = slab->start;
            }
            const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(p) - start);
            const auto slot = narrowed<std::size_t>(std::uint64_t{offset} * layout.inverse >> 32);
            if (slot * layout.slot_bytes != offset || slot >= slab->slots) [[unlikely]]
                return {mistake::inside_a_slot, p};
            std::uint64_t& word = slab->free_bits[slot / 64];
            const std::uint64_t before = word;
            const std::uint64_t after = before | std::uint64_t{1} << slot % 64;
            if (after == before) [[unlikely]]
                return {mistake::double_free, p};
            word = after;
            const std::uint32_t free_before = slab->free_slots;
            slab->free_slots = free_before + 1;
            // One comparison for "it had none" and for "all are free now".
            if (free_before - 1 >= slab->slots - 2) [[unlikely]] {
                slab_changed(to, *slab);
                unit = ~std::size_t{0};  // the slab may be gone
            }
        }
        return {};
    }

    /// Gives slabs back that have no slot in use. The caller holds no lock.
    void trim(locked_range& to) noexcept {
        const lock_guard guard{lock_};
        for (std::uint32_t each = partial_; each != 0;) {
            heap_slab& slab = to.range.slab(each);
            each = slab.next;
            if (slab.free_slots == slab.slots) remove_slab(to, slab);
        }
    }

    /// Slots that are handed out, the free ones that threads keep included; and the slots and units of all slabs.
    struct figures {
        std::size_t handed_out = 0;
        std::size_t slots = 0;
        std::size_t units = 0;
    };
    figures count() noexcept {
        const lock_guard guard{lock_};
        return {handed_out_, slots_, units_};
    }

    /// What in the listed slabs does not agree, or null. Linear in the slots of these.
    const char* broken_invariant(heap_range& in) noexcept {
        const lock_guard guard{lock_};
        std::uint32_t before = 0;
        for (std::uint32_t each = partial_; each != 0; before = each, each = in.slab(each).next) {
            const heap_slab& slab = in.slab(each);
            std::size_t free = 0;
            for (std::size_t word = 0; word < (slab.slots + 63) / 64 && slab.slots <= heap_classes::max_slots; ++word)
                free += static_cast<std::size_t>(std::popcount(slab.free_bits[word]));
            if (slab.number != each || slab.previous != before || free != slab.free_slots || free == 0 ||
                free > slab.slots)
                return "the record of a slab was overwritten";
        }
        return handed_out_ <= slots_ ? nullptr : "more slots are handed out than the slabs have";
    }

    /// Gives all slabs to another depot of slots of the same size, for good: from now on this one is only another name
    /// for it. Their units get its number, so that what is freed in them is taken again there. Linear in the units of
    /// the range.
    void join(heap_depot& successor, locked_range& in, heap_class_number of) noexcept {
        const lock_guard guard{lock_};
        if (successor_ != nullptr) return;
        const lock_guard of_successor{successor.lock_};
        while (partial_ != 0) {
            heap_slab& slab = in.range.slab(partial_);
            unlink(in.range, slab);
            successor.link(in.range, slab);
        }
        successor.slots_ += slots_;
        successor.units_ += units_;
        successor.handed_out_ += handed_out_;
        slots_ = units_ = handed_out_ = 0;
        successor_ = &successor;
        const lock_guard of_range{in.lock};
        in.range.rename_class(of.number, of.size_class);
    }
    bool has_joined() noexcept {
        const lock_guard guard{lock_};
        return successor_ != nullptr;
    }

private:
    // A slab got its first free slot, or has no slot in use any more.
    [[gnu::noinline]] void slab_changed(locked_range& to, heap_slab& slab) noexcept {
        if (slab.free_slots == 1) link(to.range, slab);
        // One that is the only one with a free slot is needed soon.
        if (slab.free_slots == slab.slots && slab.next + slab.previous != 0) remove_slab(to, slab);
    }

    // Takes slots of a slab that has some, in front of `free_end` at most down to `begin`; returns the new end.
    static void** take_from(heap_slab& slab, std::size_t slot_bytes, void** begin, void** free_end) noexcept {
        const auto taken = detail::min<std::size_t>(static_cast<std::size_t>(free_end - begin), slab.free_slots);
        void** const stop = free_end - taken;
        slab.free_slots -= static_cast<std::uint32_t>(taken);
        std::byte* word_start = slab.start;
        for (std::uint64_t* word = slab.free_bits; free_end != stop; ++word, word_start += 64 * slot_bytes) {
            std::uint64_t bits = *word;
            for (; bits != 0 && free_end != stop; bits &= bits - 1) {
                *--free_end = word_start + static_cast<std::size_t>(std::countr_zero(bits)) * slot_bytes;
            }
            *word = bits;
        }
        return free_end;
    }

    // A program touches each page of a slab of such slots, so huge pages for it are no waste.
    static constexpr std::size_t max_dense_slot = 4096;

    // The first slabs have a unit, or room for two slots, later ones a quarter of what the class has: a small program
    // needs few slots of each of many classes, and of a huge page what is not touched takes memory, too
    // (bench/results/whole_programs.md).
    std::uint32_t units_of_next(const heap_class& layout) const noexcept {
        const std::size_t quarter = detail::min<std::size_t>(units_ / 4, layout.units);
        return detail::max(static_cast<std::uint32_t>(quarter), layout.first_units);
    }

    [[gnu::noinline]] bool add_slab(locked_range& from, heap_class_number of) noexcept {
        const heap_class& layout = heap_classes::layouts[of.size_class];
        const lock_guard guard{from.lock};
        heap_range& range = from.range;
        const std::uint32_t number = range.take_slab();
        if (number == 0) return false;
        bool is_zero;
        const std::uint32_t units = units_of_next(layout);
        const unit_number first = range.take(units, 1, is_zero, layout.slot_bytes <= max_dense_slot);
        if (first == 0) return range.give_slab(number), false;
        heap_slab& slab = range.slab(number);
        for (unit_number each = first; each != first + units; ++each) {
            unit_record& record = range.record(each);
            record.set(unit_record::kind::slab, 0);
            record.slab = &slab;
            range.set_class(each, of.number);
        }
        slab.start = range.address(first);
        slab.number = number;
        slab.units = static_cast<std::uint16_t>(units);
        slab.size_class = static_cast<std::uint16_t>(of.size_class);
        const std::uint32_t slots = heap_classes::slots_in(units, layout.slot_bytes);
        slab.slots = slots;
        slab.free_slots = slots;
        for (std::size_t word = 0; word < (slots + 63) / 64; ++word) slab.free_bits[word] = ~std::uint64_t{0};
        if (slots % 64 != 0) slab.free_bits[slots / 64] = (std::uint64_t{1} << slots % 64) - 1;
        slots_ += slots;
        units_ += units;
        link(range, slab);
        return true;
    }

    [[gnu::noinline]] void remove_slab(locked_range& to, heap_slab& slab) noexcept {
        unlink(to.range, slab);
        slots_ -= slab.slots;
        units_ -= slab.units;
        const lock_guard guard{to.lock};
        const unit_number first = to.range.unit_of(slab.start);
        const unit_number units = slab.units;
        for (unit_number each = first; each != first + units; ++each) to.range.set_class(each, 0);
        to.range.give_slab(slab.number);
        to.range.give(first, units);
    }

    void link(heap_range& range, heap_slab& slab) noexcept {
        slab.previous = 0;
        slab.next = partial_;
        if (partial_ != 0) range.slab(partial_).previous = slab.number;
        partial_ = slab.number;
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
    std::size_t units_ = 0;      // of all slabs
    std::size_t handed_out_ = 0;
    heap_depot* successor_ = nullptr;  // that has got all slabs
};

}  // namespace acre::detail

#endif
