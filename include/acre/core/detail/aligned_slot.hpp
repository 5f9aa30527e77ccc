// Which slot of a row begins at a multiple of an alignment that not all slots have. Used by what hands out slots.
#pragma once

#include <cstddef>

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

}  // namespace acre::detail
