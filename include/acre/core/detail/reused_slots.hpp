// Slots of one size, single ones and runs of neighbours, handed out again once they were freed: the policy of
// acre::typed_arena that reuses, and a class of acre::chunk_pool.
//
// Used by those two, not directly. A set of the freed slots lies beside the storage, so freed neighbours are
// one run without any merging, and a freed object is neither read nor written. All zero at first, so that an object of
// static storage duration lies in .bss.
//
// Cost: one slot, taken or given back, is constant time: the lowest freed one is found in as many steps as the number
// of slots has digits of six bits, else the next one never used is taken. A run takes one step for each freed run
// before the one that is long enough, and one for each 64 slots of those; a run given back one step for each 64.
// Memory: a bit a slot and 1/63 more. A double free, and what is not a slot that is handed out, abort with a sentence.
// Not thread-safe.
#pragma once

#include <acre/core/detail/aligned_slot.hpp>
#include <acre/core/detail/hierarchical_bitset.hpp>
#include <acre/core/error.hpp>
#include <cassert>
#include <cstddef>

namespace acre::detail {

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
