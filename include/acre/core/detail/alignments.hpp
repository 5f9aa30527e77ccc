// What acre/core/alignment.hpp has besides array_bytes, which needs <optional>. For acre/fwd.hpp.
//
// Used by the library, not directly. Everything is constexpr and constant time.
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <cstddef>
#include <cstdint>

namespace acre {

/// Alignment in bytes of a request that names none: enough for every scalar type.
inline constexpr std::size_t default_alignment = alignof(std::max_align_t);

/// The largest request in bytes that any resource accepts: pointer differences within a larger object would overflow.
inline constexpr std::size_t max_request = static_cast<std::size_t>(PTRDIFF_MAX);

/// True for a power of two, at least 1.
constexpr bool is_alignment(std::size_t alignment) noexcept {
    // std::has_single_bit may call a library function on processors without the instruction.
    return (alignment ^ (alignment - 1)) > alignment - 1;
}

/// Smallest multiple of `alignment` (a power of two) that is at least `value`. Requires that `value + alignment - 1`
/// does not wrap.
constexpr std::uintptr_t align_up(std::uintptr_t value, std::size_t alignment) noexcept {
    return (value + alignment - 1) & ~std::uintptr_t{alignment - 1};
}

/// Largest multiple of `alignment` (a power of two) that is at most `value`.
constexpr std::uintptr_t align_down(std::uintptr_t value, std::size_t alignment) noexcept {
    return value & ~std::uintptr_t{alignment - 1};
}

/// Bytes from `address` to the next multiple of `alignment` (a power of two): 0 to alignment - 1.
constexpr std::size_t padding_to(std::uintptr_t address, std::size_t alignment) noexcept {
    return (0 - address) & (alignment - 1);
}

namespace detail {

/// True for a power of two that an object may be aligned to: multiples of a larger one are too far apart. For refusals
/// to say why; requests of such an alignment are refused without it, as larger than max_request.
constexpr bool can_be_honoured(std::size_t alignment) noexcept {
    return is_alignment(alignment) && alignment <= max_request;
}

/// `bytes` and `padding` together; SIZE_MAX when that overflows. For refusals to say what an alignment takes.
constexpr std::size_t with_padding(std::size_t bytes, std::size_t padding) noexcept {
    return bytes > SIZE_MAX - padding ? SIZE_MAX : bytes + padding;
}

}  // namespace detail

/// Largest alignment in bytes of an object of `size` bytes, up to default_alignment: sizes are multiples of alignments.
constexpr std::size_t natural_alignment(std::size_t size) noexcept {
    return detail::min(size & (0 - size), default_alignment);
}

/// True when `address` is a multiple of `alignment` (a power of two).
inline bool is_aligned(const void* address, std::size_t alignment) noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) == 0;
}

}  // namespace acre
