// Requests for a size or more: what lies behind the requested bytes in a slot is of use, not lost.
//
// Use it for storage that grows, such as buffers and vectors. acre::allocator and acre::arena_vector do. A resource
// says by bytes_given(bytes, alignment) how large the slot of a request is; the others give the bytes that are asked
// for. The storage goes back with the bytes that were asked for, those that were given, or any number between. Cost:
// that of allocate, and the look-up of the size class. Thread rules: those of the resource.
//
//     acre::multi_pool pool;
//     auto [p, bytes] = acre::allocate_at_least(pool, 100);  // 112 bytes
//     pool.deallocate(p, bytes);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

/// As std::allocation_result of C++23, to which it converts: storage, and for how many objects it has room.
template <class Pointer>
struct allocation_result {
    Pointer ptr;
    std::size_t count;

    /// To that of the standard, which is in <memory>.
    template <class Standard>
        requires requires(const Standard& like) { Standard{like.ptr, like.count}; }
    operator Standard() const {
        return {ptr, count};
    }
};

namespace detail {
/// The bytes that `from` gives for a request of `bytes`.
template <class R>
[[gnu::always_inline]] constexpr std::size_t bytes_given(const R& from, std::size_t bytes,
                                                         std::size_t alignment) noexcept {
    if constexpr (requires { from.bytes_given(bytes, alignment); }) {
        return from.bytes_given(bytes, alignment);
    } else {
        return bytes;
    }
}
}  // namespace detail

/// Storage of `bytes` bytes or more, aligned to `alignment`, and how many. Throws what the resource throws.
template <resource R>
[[nodiscard]] allocation_result<void*> allocate_at_least(R& from, std::size_t bytes,
                                                         std::size_t alignment = default_alignment) {
    const std::size_t given = detail::bytes_given(from, bytes, alignment);
    return {from.allocate(given, alignment), given};
}

}  // namespace acre
