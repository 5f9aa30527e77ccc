// Alignment and size arithmetic that cannot wrap. Everything is constexpr and constant time.
//
//     static_assert(acre::align_up(13, 8) == 16);
//     static_assert(acre::array_bytes(100, 8) == 800);
//     static_assert(!acre::array_bytes(SIZE_MAX, 8));  // empty: the product does not fit
#pragma once

#include <acre/core/detail/alignments.hpp>
#include <cstddef>
#include <optional>

namespace acre {

/// Bytes of `count` elements of `size` bytes each; empty when the product exceeds `max_request`.
constexpr std::optional<std::size_t> array_bytes(std::size_t count, std::size_t size) noexcept {
    if (size != 0 && count > max_request / size) return std::nullopt;
    return count * size;
}

}  // namespace acre
