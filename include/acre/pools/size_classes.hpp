// The sizes that acre::multi_pool keeps slots of: every multiple of 8 bytes up to 128, then eight a doubling up to
// 8 KiB, 64 classes in all. A request is rounded up by at most 7 bytes, or by at most an eighth.
//
// All functions are constexpr and constant time. Power-of-two classes would waste up to half.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/size_literals.hpp>
#include <acre/pools/slab_geometry.hpp>
#include <array>
#include <bit>
#include <cstddef>

namespace acre {

/// Number of size classes.
inline constexpr std::size_t size_class_count = 64;
/// Bytes of the largest class.
inline constexpr std::size_t largest_size_class = 8_KiB;

/// The class of a request of `bytes` bytes, 1 to largest_size_class.
constexpr std::size_t size_class_of(std::size_t bytes) noexcept {
    if (bytes <= 128) return (bytes - 1) / 8;
    const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
    return 16 + (octave - 7) * 8 + ((bytes - 1) >> (octave - 3)) % 8;
}

/// Bytes of the slots of class `index`.
constexpr std::size_t size_class_bytes(std::size_t index) noexcept {
    if (index < 16) return (index + 1) * 8;
    const std::size_t octave = 7 + (index - 16) / 8;
    return (std::size_t{8} + index % 8 + 1) << (octave - 3);
}

/// Bytes to look the class up by: slots of a class are aligned to every power of two that divides its size, and a
/// request rounded up to a multiple of its alignment falls into a class whose size is one.
constexpr std::size_t size_for_class(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t some = bytes == 0 ? 1 : bytes;
    return alignment <= 8 ? some : align_up(some, alignment);
}

/// How the slots of each class lie in slabs.
inline constexpr std::array<slab_geometry, size_class_count> size_class_geometry = [] {
    std::array<slab_geometry, size_class_count> result;
    for (std::size_t index = 0; index < size_class_count; ++index) {
        result[index] = slab_geometry::of(size_class_bytes(index), 8);
    }
    return result;
}();

static_assert(size_class_of(1) == 0 && size_class_of(128) == 15 && size_class_of(129) == 16);
static_assert(size_class_of(largest_size_class) == size_class_count - 1);
static_assert(size_class_bytes(16) == 144 && size_class_bytes(size_class_count - 1) == largest_size_class);

}  // namespace acre
