// What the pools share around their hot paths: the interface of a resource over a pool of slots, and the errors of
// requests that were refused.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/error.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// Allocation by size and alignment for a pool of slots of `Slot` bytes aligned to `Align` (CRTP). `Pool` declares
/// max_alignment, and allocate(), try_allocate() and deallocate(p) for one slot; its allocate_large, try_allocate_large
/// and deallocate_large handle requests that no slot fits. Cost over a slot: two comparisons, none for a constant size.
template <class Pool, std::size_t Slot, std::size_t Align>
class slot_face : public no_clear<Pool> {
    static_assert(Slot > 0 && Slot <= max_request / 1024, "acre: the slots of a pool have at least one byte");
    static_assert(is_alignment(Align), "acre: the alignment of a pool is a power of two");

public:
    /// True when a slot serves a request of this size and alignment.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slot && alignment <= Pool::max_alignment && is_alignment(alignment);
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        return serves(bytes, alignment) ? Slot : bytes;
    }

    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return with_poisoned_tail(self().allocate(), bytes);
        return self().allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return with_poisoned_tail(self().try_allocate(), bytes);
        return self().try_allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return self().deallocate(p);
        self().deallocate_large(p, bytes, alignment);
    }

private:
    // Poisons the bytes of a slot that were not requested.
    [[gnu::always_inline]] static void* with_poisoned_tail(void* slot, std::size_t bytes) noexcept {
        if constexpr (poisoning) {
            bytes = accessible_bytes(bytes);
            if (slot != nullptr) poison(static_cast<std::byte*>(slot) + bytes, Slot - bytes);
        }
        return slot;
    }

    [[gnu::always_inline]] Pool& self() noexcept { return static_cast<Pool&>(*this); }
};

/// Raises the error of a refused request of a pool that holds `held` bytes and may hold `limit`. `slab_bytes` is the
/// size of the next slab, or 0 for a request that takes a block of its own.
[[gnu::cold]] inline void* refuse(const char* name, std::size_t bytes, std::size_t alignment, std::size_t held,
                                  std::size_t limit, std::size_t slab_bytes = 0) {
    if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
    if (bytes > max_request / 2) return raise<request_too_large>(name, bytes, max_request / 2);
    const std::size_t needed = slab_bytes != 0 ? slab_bytes : large_blocks::upstream_bytes(bytes, alignment);
    if (limit != SIZE_MAX && needed > limit - detail::min(held, limit)) {
        return raise<limit_exceeded>(name, needed, held, limit);
    }
    return raise<out_of_memory>(name, bytes, alignment);
}

}  // namespace acre::detail
