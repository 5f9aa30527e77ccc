// The sizes that acre::multi_pool keeps slots of: every multiple of 8 bytes up to 128, then eight a doubling up to
// 8 KiB, 64 classes in all. A request is rounded up by at most 7 bytes, or by at most an eighth.
//
// All functions are constexpr and constant time. Power-of-two classes would waste up to half.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/literals.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

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
/// request rounded up to a multiple of its alignment falls into a class whose size is one. 0 where `bytes` is 0, where
/// the sum wraps, and where `alignment` is 0.
constexpr std::size_t size_for_class(std::size_t bytes, std::size_t alignment) noexcept {
    return (bytes + alignment - 1) & (0 - alignment);
}

/// The class of each size, by (bytes - 1) / 8: a load where a size is known at run time only, without a jump that
/// sizes which vary would have the processor guess.
inline constexpr std::array<std::uint8_t, largest_size_class / 8> size_class_table = [] {
    std::array<std::uint8_t, largest_size_class / 8> result;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::uint8_t>(size_class_of(8 * i + 1));
    return result;
}();

/// Sets `index` to the class that serves a request; false for one that is too large, of no bytes, or whose alignment is
/// 0.
[[gnu::always_inline]] constexpr bool find_size_class(std::size_t bytes, std::size_t alignment,
                                                      std::size_t& index) noexcept {
    const std::size_t last = size_for_class(bytes, alignment) - 1;
    if (last >= largest_size_class) return false;
    index = size_class_table[last / 8];
    return true;
}

/// How the slots of each class lie in slabs.
inline constexpr std::array<slab_geometry, size_class_count> size_class_geometry = [] {
    std::array<slab_geometry, size_class_count> result;
    for (std::size_t index = 0; index < size_class_count; ++index) {
        result[index] = slab_geometry::of(size_class_bytes(index), 8);
    }
    return result;
}();

/// The bytes of slabs of all classes up to largest_common_class bytes.
inline constexpr std::size_t common_slab_bytes = size_class_geometry[0].slab_bytes;
inline constexpr std::size_t largest_common_class = [] {
    std::size_t largest = 0;
    for (const slab_geometry& each : size_class_geometry) {
        if (each.slab_bytes == common_slab_bytes) largest = each.slot_bytes;
    }
    return largest;
}();

static_assert(largest_common_class >= 512);
static_assert(size_class_of(1) == 0 && size_class_of(128) == 15 && size_class_of(129) == 16);
static_assert(size_class_of(largest_size_class) == size_class_count - 1);
static_assert(size_class_bytes(16) == 144 && size_class_bytes(size_class_count - 1) == largest_size_class);

}  // namespace acre::detail
