// Slots of one size handed out in order, and never again: the policy of acre::typed_arena that reuses nothing.
//
// Used by acre::typed_arena, not directly. All of its state is one number, zero at first, so that an object of static
// storage duration lies in .bss. Cost: take is a comparison, an addition and a store; give_back is nothing at all.
// Not thread-safe: acre::shared_bump_slots is.
#pragma once

#include <acre/core/detail/aligned_slot.hpp>
#include <cassert>
#include <cstddef>

namespace acre::detail {

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

}  // namespace acre::detail
