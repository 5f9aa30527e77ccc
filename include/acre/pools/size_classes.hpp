// Size classes: the slot sizes that a multi-pool rounds requests up to. This file is the place to add another policy.
//
// A policy is a type with one member, `bytes`: a constexpr std::array of slot sizes (std::size_t), ascending multiples
// of 8. Pass it to acre::basic_multi_pool or acre::basic_concurrent_multi_pool. A policy costs nothing at run time:
// lookup tables and slab layouts are computed from it at compile time, here and nowhere else. Requests larger than the
// last class get a block of their own from upstream.
//
// Use acre::multi_pool with the default classes unless a histogram of the workload (acre::statistics with .histogram)
// shows sizes that they round up badly. acre::size_class_list names sizes one by one. A policy has at most 256 classes
// of at most 256 KiB: the lookup table holds class numbers of one byte, one for each multiple of the granularity (the
// largest power of two that divides all sizes) up to the largest class.
//
//     acre::basic_multi_pool<acre::size_class_list<24, 40, 136>> nodes;
//
//     struct powers_of_two {  // 16, 32, ..., 8192
//         static constexpr auto bytes = [] {
//             std::array<std::size_t, 10> sizes{};
//             for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::size_t{16} << i;
//             return sizes;
//         }();
//     };
//     acre::basic_multi_pool<powers_of_two> buffers;
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/literals.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace acre {

// One concept for each rule, so that the compiler names the rule that a policy breaks.
namespace detail {
template <class Policy>
concept is_defined_and_not_only_declared = requires { sizeof(Policy); };
template <class Policy>
concept has_1_to_256_sizes_in_an_array =
    std::same_as<std::remove_cvref_t<decltype(Policy::bytes)>, std::array<std::size_t, Policy::bytes.size()>> &&
    Policy::bytes.size() >= 1 && Policy::bytes.size() <= 256;
template <class Policy>
concept has_sizes_that_are_multiples_of_8 = [] {
    for (const std::size_t size : Policy::bytes) {
        if (size == 0 || size % 8 != 0) return false;
    }
    return true;
}();
template <class Policy>
concept has_ascending_sizes = [] {
    for (std::size_t i = 1; i < Policy::bytes.size(); ++i) {
        if (Policy::bytes[i] <= Policy::bytes[i - 1]) return false;
    }
    return true;
}();
template <class Policy>
concept has_sizes_up_to_256_KiB = Policy::bytes.back() <= 256_KiB;
}  // namespace detail

/// What a size-class policy provides: `bytes`, a constexpr std::array of 1 to 256 slot sizes in bytes (std::size_t),
/// ascending multiples of 8, at most 256 KiB.
template <class Policy>
concept size_class_policy =
    detail::is_defined_and_not_only_declared<Policy> && detail::has_1_to_256_sizes_in_an_array<Policy> &&
    detail::has_sizes_that_are_multiples_of_8<Policy> && detail::has_ascending_sizes<Policy> &&
    detail::has_sizes_up_to_256_KiB<Policy>;

/// The classes of acre::multi_pool: every multiple of 8 bytes up to 128, then eight per doubling up to 8 KiB, 64 in
/// all. A request is rounded up by at most 7 bytes or an eighth. (Power-of-two classes waste up to half.)
struct default_size_classes {
    /// The slot sizes in bytes.
    static constexpr std::array<std::size_t, 64> bytes = [] {
        std::array<std::size_t, 64> sizes{};
        std::size_t step = 8;
        for (std::size_t index = 0, size = 0; index < sizes.size(); ++index) {
            sizes[index] = size += step;
            if (size >= 128 && size == 16 * step) step *= 2;
        }
        return sizes;
    }();
};

/// Classes of exactly these sizes, ascending multiples of 8.
template <std::size_t... Bytes>
struct size_class_list {
    /// The slot sizes in bytes.
    static constexpr std::array<std::size_t, sizeof...(Bytes)> bytes{Bytes...};
};

namespace detail {

/// The tables that multi-pools look classes up in, computed from a policy. Everything is constexpr and constant time.
template <size_class_policy Policy>
class size_class_tables {
public:
    /// Number of classes.
    static constexpr std::size_t count = Policy::bytes.size();
    /// Bytes of the largest class.
    static constexpr std::size_t largest = Policy::bytes.back();
    /// Largest power of two that divides all sizes: all requests between two multiples of it have the same class.
    static constexpr std::size_t granularity = [] {
        std::size_t bits = 0;
        for (const std::size_t size : Policy::bytes) bits |= size;
        return bits & (0 - bits);
    }();

    /// Bytes of the slots of class `index`.
    static constexpr std::size_t bytes(std::size_t index) noexcept { return Policy::bytes[index]; }

    /// The class of each size, by (bytes - 1) / granularity: one load, without a branch to mispredict on mixed sizes.
    static constexpr std::array<std::uint8_t, largest / granularity> by_size =
        []() -> std::array<std::uint8_t, largest / granularity> {
        std::array<std::uint8_t, largest / granularity> table{};
        // Compilers evaluate this faster over pointers than over arrays.
        std::uint8_t* next = table.data();
        std::uint8_t index = 0;
        for (const std::size_t size : Policy::bytes) {
            for (const std::uint8_t* const end = table.data() + size / granularity; next != end; ++next) *next = index;
            ++index;
        }
        return table;
    }();

    /// The layout of each class in slabs.
    static constexpr std::array<slab_geometry, count> geometry = []() -> std::array<slab_geometry, count> {
        std::array<slab_geometry, count> result;
        for (std::size_t index = 0; index < count; ++index) result[index] = slab_geometry::of(bytes(index), 8);
        return result;
    }();

    /// Bytes of one slab of the first class, and of each of the common classes: the first ones, up to `largest_common`
    /// bytes.
    static constexpr std::size_t common_slab_bytes = geometry[0].slab_bytes;
    static constexpr std::size_t common_count = [] {
        std::size_t index = 0;
        while (index < count && geometry[index].slab_bytes == common_slab_bytes &&
               geometry[index].fraction_is_exact()) {
            ++index;
        }
        return index;
    }();
    static constexpr std::size_t largest_common = common_count == 0 ? 0 : bytes(common_count - 1);

    /// The offset of the last byte of a request that is rounded up to a multiple of its alignment. SIZE_MAX when
    /// `bytes` or `alignment` is 0.
    static constexpr std::size_t last_byte(std::size_t bytes, std::size_t alignment) noexcept {
        return (bytes - 1) | (alignment - 1);
    }
    /// The same as a number of granules, the index of by_size: at least granules(largest) for a request that is too
    /// large or 0. Compared instead of the byte, it needs no look at a constant alignment of up to a granule.
    static constexpr std::size_t last_granule(std::size_t bytes, std::size_t alignment) noexcept {
        return granules(last_byte(bytes, alignment));
    }
    static constexpr std::size_t granules(std::size_t bytes) noexcept { return bytes / granularity; }

    /// True when find() has to search: the class of the rounded size may be misaligned. A slot is aligned to every
    /// power of two that divides its size. Constant false for the default classes.
    static constexpr bool needs_search(std::size_t alignment) noexcept {
        return !rounding_aligns && alignment > granularity;
    }

    /// Sets `index` to the class that serves a request; false for one that is too large, and for 0 bytes or alignment.
    [[gnu::always_inline]] static constexpr bool find(std::size_t bytes, std::size_t alignment,
                                                      std::size_t& index) noexcept {
        const std::size_t last = last_granule(bytes, alignment);
        if (last >= granules(largest)) return false;
        index = by_size[last];
        if constexpr (!rounding_aligns) {
            while (index < count && (Policy::bytes[index] & (alignment - 1)) != 0) ++index;
            return index < count;
        }
        return true;
    }

    /// Bytes of the slot for a request; those of the request where no class serves it.
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index = 0;
        return is_alignment(alignment) && find(bytes + (bytes == 0), alignment, index) ? Policy::bytes[index] : bytes;
    }

private:
    // Whether each multiple of a power of two has a class whose size is a multiple of it, too. It has not if such a
    // multiple lies between a class and the one before; the last that may is the class less its lowest bit.
    static constexpr bool rounding_aligns = [] {
        std::size_t before = 0;
        for (const std::size_t size : Policy::bytes) {
            if ((size & (size - 1)) > before) return false;
            before = size;
        }
        return true;
    }();
};

}  // namespace detail

}  // namespace acre
