// A buffer that brings its own storage: inside the object, so on the stack or static, wherever the object is.
//
// Use acre::buffer for storage that exists already. Costs and thread rules are those of acre::buffer.
//
//     acre::inline_buffer<16_KiB> storage;
//     acre::object_pool<Particle> particles{storage};
#pragma once

#include <acre/memory/buffer.hpp>
#include <cstddef>

namespace acre {

namespace detail {
/// Base that holds the bytes, so that they exist before the buffer that hands them out.
template <std::size_t Bytes, std::size_t Alignment>
struct inline_bytes {
    alignas(Alignment) std::byte inline_storage[Bytes];
};
}  // namespace detail

/// `Bytes` bytes, aligned to `Alignment`, handed out as acre::buffer does.
template <std::size_t Bytes, std::size_t Alignment = default_alignment>
class inline_buffer : private detail::inline_bytes<Bytes, Alignment>, public buffer {
public:
    static_assert(Bytes > 0, "an inline_buffer needs at least one byte");
    static_assert(is_alignment(Alignment), "the alignment of an inline_buffer is a power of two");

    inline_buffer() noexcept : buffer(std::span<std::byte>{detail::inline_bytes<Bytes, Alignment>::inline_storage}) {}

    /// Bytes of the whole buffer.
    static constexpr std::size_t capacity() noexcept { return Bytes; }
};

static_assert(owning_resource<inline_buffer<64>>);

}  // namespace acre
