// Policies that hand out slots of one size by their offsets: bump_slots (in order, never reused), shared_bump_slots
// (the same for any number of threads), reused_slots (freed slots and runs of slots are reused), locked_slots (a policy
// behind a mutex). acre::typed_arena takes its options' policy, acre::chunk_pool has a reused_slots for each class.
//
// A policy is constant-initialised to zero, so that an object of static storage duration lies in .bss.
#pragma once

#include <acre/core/detail/hierarchical_bitset.hpp>
#include <acre/core/error.hpp>
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <mutex>

namespace acre::detail {

/// The first offset of a slot, from that at `offset` on, which is a multiple of `alignment`, a power of two. A step for
/// each slot passed over, of which there are fewer than `alignment`; none where all slots are aligned so.
template <std::size_t SlotBytes>
[[gnu::always_inline]] constexpr std::size_t aligned_slot(std::size_t offset, std::size_t alignment) noexcept {
    constexpr std::size_t natural = SlotBytes & (0 - SlotBytes);
    if (alignment > natural) [[unlikely]] {
        while ((offset & (alignment - 1)) != 0) offset += SlotBytes;
    }
    return offset;
}

/// `Count` slots of `SlotBytes` bytes, named by their offsets in bytes.
template <std::size_t SlotBytes, std::size_t Count>
class bump_slots {
public:
    static constexpr bool reuses = false;

    /// Sets `offset` to `count` neighbouring slots, 1 to Count, at a multiple of `alignment` (slots before it are
    /// passed over); false, and nothing changed, when there are not so many.
    [[gnu::always_inline]] bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        assert(count > 0 && count <= Count);
        const std::size_t bytes = count * SlotBytes;
        const std::size_t start = aligned_slot<SlotBytes>(next_, alignment);
        if (start > all_bytes - bytes) [[unlikely]]
            return false;
        offset = start;
        next_ = start + bytes;
        return true;
    }

    /// Nothing: what was handed out is not handed out again.
    static void give_back(const char*, const void*, std::size_t, std::size_t) noexcept {}

    /// Takes back what was taken last; nothing if it is not the last.
    void undo(const char*, const void*, std::size_t offset, std::size_t count) noexcept {
        if (next_ == offset + count * SlotBytes) next_ = offset;
    }

    void reset() noexcept { next_ = 0; }

    /// Bytes handed out.
    std::size_t used() const noexcept { return next_; }
    /// Everything from this offset on was never handed out.
    std::size_t untouched_from() const noexcept { return next_; }
    /// Touches the pages of what is kept beside the storage: there is nothing.
    static void prefault() noexcept {}

private:
    static constexpr std::size_t all_bytes = SlotBytes * Count;

    std::size_t next_ = 0;
};

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

/// `Slots`, one thread at a time.
template <class Slots>
class locked_slots {
public:
    static constexpr bool reuses = Slots::reuses;

    bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        const std::lock_guard hold{lock_};
        return slots_.take(count, alignment, offset);
    }
    void give_back(const char* reported, const void* p, std::size_t offset, std::size_t count) noexcept {
        const std::lock_guard hold{lock_};
        slots_.give_back(reported, p, offset, count);
    }
    void undo(const char* reported, const void* p, std::size_t offset, std::size_t count) noexcept {
        const std::lock_guard hold{lock_};
        slots_.undo(reported, p, offset, count);
    }
    void reset() noexcept {
        const std::lock_guard hold{lock_};
        slots_.reset();
    }
    std::size_t used() const noexcept {
        const std::lock_guard hold{lock_};
        return slots_.used();
    }
    std::size_t untouched_from() const noexcept {
        const std::lock_guard hold{lock_};
        return slots_.untouched_from();
    }
    void prefault() noexcept {
        const std::lock_guard hold{lock_};
        slots_.prefault();
    }

private:
    mutable std::mutex lock_;
    Slots slots_;
};

/// `Count` slots of `SlotBytes` bytes, named by their offsets in bytes.
template <std::size_t SlotBytes, std::size_t Count>
class reused_slots {
public:
    static constexpr bool reuses = true;

    /// Sets `offset` to `count` neighbouring slots, 1 to Count, at a multiple of `alignment`; false, and nothing
    /// changed, when no run is so long.
    [[gnu::always_inline]] bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        assert(count > 0 && count <= Count);
        const bool any_slot_will_do = alignment <= (SlotBytes & (0 - SlotBytes));
        return count == 1 && any_slot_will_do ? take_one(offset) : take_run(count, alignment, offset);
    }

    /// Aborts with a sentence in the name of `reported` unless all the slots at `offset` are handed out.
    [[gnu::always_inline]] void check_live(const char* reported, const void* p, std::size_t offset,
                                           std::size_t count) const noexcept {
        const std::size_t index = offset / SlotBytes;
        if (index * SlotBytes != offset) abort_on_misuse(reported, "a pointer was freed that is no slot's", p);
        if (index >= fresh_ || count > fresh_ - index) {
            abort_on_misuse(reported, "slots were freed that were never handed out", p);
        }
        const bool freed_already = count == 1 ? freed_.contains(index) : freed_.next(index) < index + count;
        if (freed_already) abort_on_misuse(reported, "double free", p);
    }

    /// Takes back the slots at `offset`, after check_live.
    [[gnu::always_inline]] void give_back(const char* reported, const void* p, std::size_t offset,
                                          std::size_t count) noexcept {
        check_live(reported, p, offset, count);
        freed_count_ += count;
        if (count == 1) {
            freed_.insert(offset / SlotBytes);
        } else {
            freed_.insert_run(offset / SlotBytes, count);
        }
    }

    /// The same as give_back.
    void undo(const char* reported, const void* p, std::size_t offset, std::size_t count) noexcept {
        give_back(reported, p, offset, count);
    }

    /// A step for each 512 slots that were ever handed out.
    void reset() noexcept {
        freed_.erase_below(fresh_);
        freed_count_ = 0;
        fresh_ = 0;
    }

    /// Bytes handed out.
    std::size_t used() const noexcept { return (fresh_ - freed_count_) * SlotBytes; }
    /// Everything from this offset on was never handed out.
    std::size_t untouched_from() const noexcept { return fresh_ * SlotBytes; }
    /// Touches the pages of the set of freed slots.
    void prefault() noexcept { freed_.prefault(); }

private:
    bool take_one(std::size_t& offset) noexcept {
        std::size_t index = fresh_;
        if (freed_count_ != 0) {
            index = freed_.first();
            freed_.erase(index);
            --freed_count_;
        } else if (fresh_ != Count) {
            ++fresh_;
        } else {
            return false;
        }
        offset = index * SlotBytes;
        return true;
    }

    bool take_run(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        const std::size_t index = find_run(count, alignment);
        if (index == Count) return false;
        const std::size_t end = index + count;
        // What was never used becomes free as if it had been, then the run is taken out of what is free.
        if (end > fresh_) {
            freed_.insert_run(fresh_, end - fresh_);
            freed_count_ += end - fresh_;
            fresh_ = end;
        }
        freed_.erase_run(index, count);
        freed_count_ -= count;
        offset = index * SlotBytes;
        return true;
    }

    // Where `count` neighbours are free: the first run of freed ones, else at the end of what was ever used, where
    // freed ones and those never used are neighbours too. Count when there is none.
    std::size_t find_run(std::size_t count, std::size_t alignment) const noexcept {
        const auto aligned = [alignment](std::size_t index) {
            return aligned_slot<SlotBytes>(index * SlotBytes, alignment) / SlotBytes;
        };
        if (freed_count_ >= count) {
            for (std::size_t run = freed_.next(0); run < fresh_;) {
                const std::size_t end = freed_.next_missing(run, fresh_);
                const std::size_t start = aligned(run);
                if (start <= end && end - start >= count) return start;
                run = freed_.next(end);
            }
        }
        const std::size_t last = aligned(freed_.run_before(fresh_));
        return last <= Count && Count - last >= count ? last : Count;
    }

    std::size_t fresh_ = 0;        // this slot and all after it were never handed out
    std::size_t freed_count_ = 0;  // of those before
    hierarchical_bitset<Count> freed_;
};

}  // namespace acre::detail
