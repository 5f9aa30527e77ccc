// acre::bump_slots for any number of threads.
//
// Used by acre::typed_arena, not directly. Cost: one slot is one atomic addition, wait-free, and a subtraction when it
// failed; a run of slots is a compare-and-swap, lock-free; giving back is nothing at all. A number that all threads
// change is the slower the more of them change it at once.
//
// The position never grows beyond the end by more than a slot for each thread that is just being refused, and returns
// to the end: it cannot wrap, and used() never tells more than there is.
#pragma once

#include <acre/core/detail/aligned_slot.hpp>
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>

namespace acre::detail {

/// `Count` slots of `SlotBytes` bytes, named by their offsets in bytes, handed out to any thread. `Counter` is for
/// tests that decide which thread takes the next step.
template <std::size_t SlotBytes, std::size_t Count, class Counter = std::atomic<std::size_t>>
class shared_bump_slots {
public:
    static constexpr bool reuses = false;

    /// Sets `offset` to `count` neighbouring slots, 1 to Count, at a multiple of `alignment` (slots before it are
    /// passed over); false when there are not so many.
    [[gnu::always_inline]] bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        assert(count > 0 && count <= Count);
        const bool any_slot_will_do = alignment <= (SlotBytes & (0 - SlotBytes));
        return count == 1 && any_slot_will_do ? take_one(offset) : take_run(count * SlotBytes, alignment, offset);
    }

    /// Nothing: what was handed out is not handed out again.
    static void give_back(const char*, const void*, std::size_t, std::size_t) noexcept {}

    /// Takes back what was taken last; nothing if it is not the last any more.
    void undo(const char*, const void*, std::size_t offset, std::size_t count) noexcept {
        std::size_t end = offset + count * SlotBytes;
        next_.compare_exchange_strong(end, offset, std::memory_order_release);
    }

    /// No other thread may allocate meanwhile.
    void reset() noexcept { next_.store(0, std::memory_order_relaxed); }

    /// Bytes handed out.
    std::size_t used() const noexcept { return std::min(next_.load(std::memory_order_relaxed), all_bytes); }
    /// Everything from this offset on was never handed out.
    std::size_t untouched_from() const noexcept { return used(); }
    /// Touches the pages of what is kept beside the storage: there is nothing.
    static void prefault() noexcept {}

private:
    static constexpr std::size_t all_bytes = SlotBytes * Count;

    // An addition is undone only where every slot is handed out already. Were it made for runs too, two that are
    // refused could take the position below what a third got in between, and its slots would be handed out twice.
    [[gnu::always_inline]] bool take_one(std::size_t& offset) noexcept {
        offset = next_.fetch_add(SlotBytes, std::memory_order_acquire);
        if (offset < all_bytes) [[likely]]
            return true;
        next_.fetch_sub(SlotBytes, std::memory_order_relaxed);
        return false;
    }

    bool take_run(std::size_t bytes, std::size_t alignment, std::size_t& offset) noexcept {
        std::size_t seen = next_.load(std::memory_order_relaxed);
        do {
            offset = aligned_slot<SlotBytes>(seen, alignment);
            if (offset > all_bytes - bytes) return false;
        } while (!next_.compare_exchange_weak(seen, offset + bytes, std::memory_order_acquire));
        return true;
    }

    // A thread that undoes may have written its slots (a constructor that threw): it releases them, and whoever takes
    // acquires. All changes but reset() are read-modify-writes, so that this holds past those in between. The rest is
    // relaxed: it hands over nothing.
    Counter next_{0};
};

}  // namespace acre::detail
