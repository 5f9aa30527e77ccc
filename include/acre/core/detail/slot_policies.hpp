// Policies that hand out slots of one size by their offsets in bytes: bump_slots (ascending, without reuse),
// shared_bump_slots (the same for all threads), reused_slots (freed slots and runs of slots are reused), locked_slots
// (a policy behind a lock), counted_slots (a policy that counts what is live).
//
// Used by acre::typed_arena, as its options say, and by acre::chunk_pool, which has reused_slots for each class; not
// directly. The initial state is all zero, so a static object lies in .bss. Members of a policy:
//   take(count, alignment, offset)     sets `offset` to `count` neighbouring slots, 1 to Count, at a multiple of
//                                      `alignment`; false, and nothing changed, when there is no such run
//   give_back(name, p, offset, count)  takes slots back; errors are reported under `name`
//   undo(name, p, offset, count)       takes the latest take() back; without reuse a no-op if it is not the latest
//   skip(offset)                       before the first take(): the slots below `offset` are never handed out
//   untouched_from()                   slots from this offset on were never handed out
//   prefault()                         touches the pages of the policy's own state
//   reset()                            takes all slots back, the skipped ones included
//   used()                             bytes of the slots handed out, and of those skipped
#pragma once

#include <acre/core/detail/hierarchical_bitset.hpp>
#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#if ACRE_HAS_THREADS
#include <acre/core/detail/fork_guard.hpp>
#endif

namespace acre::detail {

/// The first slot offset from `offset` on that is a multiple of `alignment`, a power of two. Linear in the slots
/// skipped: fewer than `alignment`, and none if the slot size is a multiple of `alignment`.
template <std::size_t SlotBytes>
[[gnu::always_inline]] constexpr std::size_t aligned_slot(std::size_t offset, std::size_t alignment) noexcept {
    constexpr std::size_t natural = SlotBytes & (0 - SlotBytes);
    if (alignment > natural) [[unlikely]] {
        while ((offset & (alignment - 1)) != 0) offset += SlotBytes;
    }
    return offset;
}

/// `Count` slots of `SlotBytes` bytes in ascending order, without reuse. Cost: take is a comparison, an addition and a
/// store; give_back is nothing. Not thread-safe.
template <std::size_t SlotBytes, std::size_t Count>
class bump_slots {
public:
    static constexpr bool reuses = false;

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

    static void give_back(const char*, const void*, std::size_t, std::size_t) noexcept {}

    void undo(const char*, const void*, std::size_t offset, std::size_t count) noexcept {
        if (next_ == offset + count * SlotBytes) next_ = offset;
    }

    void skip(std::size_t offset) noexcept { next_ = offset; }
    void reset() noexcept { next_ = 0; }

    std::size_t used() const noexcept { return next_; }
    std::size_t untouched_from() const noexcept { return next_; }
    static void prefault() noexcept {}

private:
    static constexpr std::size_t all_bytes = SlotBytes * Count;

    std::size_t next_ = 0;
};

/// bump_slots for all threads. `Counter` is std::atomic, or what a test of all interleavings puts there. Cost: one slot
/// is one atomic addition, wait-free, and a subtraction when it fails; a run is a compare-and-swap, lock-free;
/// give_back is nothing. The more threads allocate at once, the slower is the shared counter.
///
/// The position exceeds the end by at most a slot for each thread that is being refused, and then returns to the end:
/// it cannot wrap, and used() never exceeds the storage.
template <std::size_t SlotBytes, std::size_t Count, class Counter = std::atomic<std::size_t>>
class shared_bump_slots {
public:
    static constexpr bool reuses = false;

    [[gnu::always_inline]] bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        assert(count > 0 && count <= Count);
        const bool any_slot_fits = alignment <= (SlotBytes & (0 - SlotBytes));
        return count == 1 && any_slot_fits ? take_one(offset) : take_run(count * SlotBytes, alignment, offset);
    }

    static void give_back(const char*, const void*, std::size_t, std::size_t) noexcept {}

    void undo(const char*, const void*, std::size_t offset, std::size_t count) noexcept {
        std::size_t end = offset + count * SlotBytes;
        next_.compare_exchange_strong(end, offset, std::memory_order_release);
    }

    /// No other thread may allocate meanwhile.
    void skip(std::size_t offset) noexcept { next_.store(offset, std::memory_order_relaxed); }
    /// No other thread may allocate meanwhile.
    void reset() noexcept { next_.store(0, std::memory_order_relaxed); }

    std::size_t used() const noexcept { return detail::min(next_.load(std::memory_order_relaxed), all_bytes); }
    std::size_t untouched_from() const noexcept { return used(); }
    static void prefault() noexcept {}

private:
    static constexpr std::size_t all_bytes = SlotBytes * Count;

    // The addition is undone only when every slot is handed out. With additions for runs, two refused threads could
    // lower the position below a run that a third took in between, and its slots would be handed out twice.
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

    // undo() releases: the thread may have written the slots in a constructor that threw. take() acquires. All changes
    // but reset() are read-modify-writes, which continue the release sequence. Other accesses are relaxed: they publish
    // no data.
    Counter next_{0};
};

#if ACRE_HAS_THREADS
/// `Slots` behind a lock, which all policies of this class share: `Owner` tells classes apart. A lock in each object
/// would need a destructor, to leave the list of locks that a fork holds, and so could not be used after main. Cost:
/// the policy's and the lock's.
template <class Slots, class Owner>
class locked_slots {
public:
    static constexpr bool reuses = Slots::reuses;

    bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        const lock_guard hold{lock_};
        return slots_.take(count, alignment, offset);
    }
    void check_live(const char* resource_name, const void* p, std::size_t offset, std::size_t count) const noexcept {
        const char* what;
        {
            const lock_guard hold{lock_};
            what = slots_.mistake_at(offset, count);
        }
        if (what != nullptr) abort_on_misuse(resource_name, what, p);
    }
    // The lock is released before a mistake is reported: what reports it may allocate.
    void give_back(const char* resource_name, const void* p, std::size_t offset, std::size_t count) noexcept {
        const char* what;
        {
            const lock_guard hold{lock_};
            what = slots_.mistake_at(offset, count);
            if (what == nullptr) return slots_.put(offset, count);
        }
        abort_on_misuse(resource_name, what, p);
    }
    void undo(const char* resource_name, const void* p, std::size_t offset, std::size_t count) noexcept {
        give_back(resource_name, p, offset, count);
    }
    void skip(std::size_t offset) noexcept {
        const lock_guard hold{lock_};
        slots_.skip(offset);
    }
    void reset() noexcept {
        const lock_guard hold{lock_};
        slots_.reset();
    }
    std::size_t used() const noexcept {
        const lock_guard hold{lock_};
        return slots_.used();
    }
    std::size_t untouched_from() const noexcept {
        const lock_guard hold{lock_};
        return slots_.untouched_from();
    }
    void prefault() noexcept {
        const lock_guard hold{lock_};
        slots_.prefault();
    }

private:
    static constinit inline static_lock lock_{};
    Slots slots_;
};
#else
template <class Slots, class Owner>
class locked_slots : public Slots {
    static_assert(sizeof(Slots) == 0,
                  "acre::typed_arena: .synchronized with .reuse needs a lock, which this target "
                  "does not have: leave out one of the two options");
};
#endif

/// `Count` slots of `SlotBytes` bytes with reuse of slots and runs. A bitset of the freed slots lies beside the
/// storage: freed neighbours form one run without merging, and a freed object is neither read nor written.
///
/// Cost: one slot, taken or given back, is constant time: it takes the lowest freed slot, in a step per level of the
/// bitset, else the next one never used. A run takes a step for each freed run before the one that is long enough, and
/// for each 64 slots of those; giving a run back takes a step for each 64 slots. Memory: a bit a slot and 1/63 more. A
/// double free, and a pointer to anything but a slot that is handed out, abort with a sentence. Not thread-safe.
template <std::size_t SlotBytes, std::size_t Count>
class reused_slots {
public:
    static constexpr bool reuses = true;

    [[gnu::always_inline]] bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        assert(count > 0 && count <= Count);
        const bool any_slot_fits = alignment <= (SlotBytes & (0 - SlotBytes));
        return count == 1 && any_slot_fits ? take_one(offset) : take_run(count, alignment, offset);
    }

    /// The sentence for a free of the slots at `offset`; null when all are handed out.
    [[gnu::always_inline]] const char* mistake_at(std::size_t offset, std::size_t count) const noexcept {
        const std::size_t index = offset / SlotBytes;
        if (index * SlotBytes != offset) return "a pointer was freed that is no slot's";
        if (index >= fresh_ || count > fresh_ - index) return "slots were freed that were never handed out";
        const bool freed_already = count == 1 ? freed_.contains(index) : freed_.next(index) < index + count;
        return freed_already ? "double free" : nullptr;
    }
    /// Aborts with a sentence unless all the slots at `offset` are handed out.
    [[gnu::always_inline]] void check_live(const char* resource_name, const void* p, std::size_t offset,
                                           std::size_t count) const noexcept {
        if (const char* what = mistake_at(offset, count)) [[unlikely]]
            abort_on_misuse(resource_name, what, p);
    }

    /// True when the slot at `offset` was handed out and taken back.
    bool is_freed(std::size_t offset) const noexcept { return freed_.contains(offset / SlotBytes); }

    [[gnu::always_inline]] void give_back(const char* resource_name, const void* p, std::size_t offset,
                                          std::size_t count) noexcept {
        check_live(resource_name, p, offset, count);
        put(offset, count);
    }
    /// As give_back(), for slots that are known to be handed out.
    [[gnu::always_inline]] void put(std::size_t offset, std::size_t count) noexcept {
        freed_count_ += count;
        if (count == 1) {
            freed_.insert(offset / SlotBytes);
        } else {
            freed_.insert_run(offset / SlotBytes, count);
        }
    }

    void undo(const char* resource_name, const void* p, std::size_t offset, std::size_t count) noexcept {
        give_back(resource_name, p, offset, count);
    }

    void skip(std::size_t offset) noexcept { fresh_ = offset / SlotBytes; }
    /// A step for each 512 slots ever handed out.
    void reset() noexcept {
        freed_.erase_below(fresh_);
        freed_count_ = 0;
        fresh_ = 0;
    }

    std::size_t used() const noexcept { return (fresh_ - freed_count_) * SlotBytes; }
    std::size_t untouched_from() const noexcept { return fresh_ * SlotBytes; }
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
        // Unused slots of the run first join the freed ones; then the whole run leaves the bitset.
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

    // The first run of `count` freed slots, else one that ends in never-used slots and may begin with freed ones. Count
    // when there is none.
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

    std::size_t fresh_ = 0;        // slots from here on were never handed out
    std::size_t freed_count_ = 0;  // freed slots before fresh_
    hierarchical_bitset<Count> freed_;
};

/// `Slots` that count the slots handed out and not given back, for policies without reuse, which do not know. Counter:
/// std::atomic where threads share the policy. Cost: an addition for each take and give_back. More given back than
/// handed out aborts with a sentence.
template <class Slots, class Counter>
class counted_slots : public Slots {
public:
    bool take(std::size_t count, std::size_t alignment, std::size_t& offset) noexcept {
        if (!Slots::take(count, alignment, offset)) return false;
        live_ += count;
        return true;
    }
    void give_back(const char* resource_name, const void* p, std::size_t offset, std::size_t count) noexcept {
        Slots::give_back(resource_name, p, offset, count);
        forget(resource_name, p, count);
    }
    void undo(const char* resource_name, const void* p, std::size_t offset, std::size_t count) noexcept {
        Slots::undo(resource_name, p, offset, count);
        forget(resource_name, p, count);
    }
    void reset() noexcept {
        Slots::reset();
        live_ = 0;
    }

    std::size_t live() const noexcept { return live_; }

private:
    void forget(const char* resource_name, const void* p, std::size_t count) noexcept {
        // The difference of an atomic is that of this thread's own subtraction.
        const std::size_t left = live_ -= count;
        if (left > SIZE_MAX - count) abort_on_misuse(resource_name, "more was freed than was handed out", p);
    }

    Counter live_{0};
};

}  // namespace acre::detail
