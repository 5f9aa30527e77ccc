// realloc over a resource whose user knows the sizes.
//
// Used by the adapters to C libraries, not directly. Cost: that of the resource; a block that moves is copied. Thread
// rules: those of the resource.
#pragma once

#include <acre/core/resource.hpp>
#include <cstddef>
#include <cstring>

namespace acre::detail {

/// Moves the block at `p` into one of `new_bytes` bytes; null, and the block as it was, when there is no memory. Out of
/// line: copying costs more than the call.
template <resource R>
[[gnu::noinline]] void* move_block(R& below, void* p, std::size_t old_bytes, std::size_t new_bytes,
                                   std::size_t alignment) noexcept {
    void* moved = below.try_allocate(new_bytes, alignment);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, p, old_bytes < new_bytes ? old_bytes : new_bytes);
    below.deallocate(p, old_bytes, alignment);
    return moved;
}

/// The block at `p` with `new_bytes` bytes, in place where R can, or moved; null, and the block as it was, when there
/// is no memory.
template <resource R>
void* reallocate(R& below, void* p, std::size_t old_bytes, std::size_t new_bytes, std::size_t alignment) noexcept {
    if (old_bytes == new_bytes) return p;
    if constexpr (resizable_resource<R>) {
        if (below.try_resize(p, old_bytes, new_bytes)) return p;
    }
    return detail::move_block(below, p, old_bytes, new_bytes, alignment);
}

}  // namespace acre::detail
