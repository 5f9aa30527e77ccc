// How acre::chunk_pool lays out its storage: what the sizes that were named become, computed by the compiler.
//
// Used by acre::chunk_pool, not directly. Everything here is constexpr.
#pragma once

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace acre::detail {

/// One class of a chunk_pool, in bytes.
struct chunk_class {
    std::size_t size;        // as it was named
    std::size_t slot_bytes;  // of each slot: the size rounded up to a multiple of default_alignment
    std::size_t alignment;   // of each slot: the largest power of two that divides slot_bytes, up to a page
    std::size_t offset;      // where the slots begin in the storage
    std::size_t all_bytes;   // of all slots
};

/// What was named as the sizes of a chunk_pool, and whether they may be.
template <auto... Sizes>
class chunk_sizes {
    template <class First, class... Others>
    static constexpr bool same_integers() noexcept {
        return std::is_integral_v<First> && !std::is_same_v<First, bool> && (std::is_same_v<First, Others> && ...);
    }
    static constexpr bool find_one_type() noexcept {
        if constexpr (sizeof...(Sizes) == 0) {
            return true;
        } else {
            return same_integers<decltype(Sizes)...>();
        }
    }
    static constexpr bool can_be(std::size_t size) noexcept { return size > 0 && size <= max_request / 2; }
    static constexpr bool find_possible() noexcept {
        if constexpr (find_one_type()) {
            return (can_be(static_cast<std::size_t>(Sizes)) && ...);
        } else {
            return true;
        }
    }
    static constexpr auto find_values() noexcept {
        if constexpr (sizeof...(Sizes) > 0 && find_one_type() && find_possible()) {
            return std::array{static_cast<std::size_t>(Sizes)...};
        } else {
            return std::array{std::size_t{1}};
        }
    }

public:
    static constexpr bool any = sizeof...(Sizes) > 0;
    static constexpr bool one_type = find_one_type();
    static constexpr bool possible = find_possible();

    /// The sizes as they were named; where they cannot be, one that can, so that what is wrong is said only once.
    static constexpr auto values = find_values();
    static constexpr bool ascending =
        std::adjacent_find(values.begin(), values.end(), std::greater_equal<>{}) == values.end();
};

/// The classes of a chunk_pool of `count` slots each. Those of the strictest alignment come first in the storage, so
/// that there is no gap between any two.
template <std::size_t Classes>
constexpr std::array<chunk_class, Classes> lay_out_chunks(std::size_t count,
                                                          const std::array<std::size_t, Classes>& sizes) noexcept {
    constexpr std::size_t page_bytes = 4096;
    std::array<chunk_class, Classes> classes{};
    for (std::size_t i = 0; i < Classes; ++i) {
        const std::size_t slot = align_up(sizes[i], default_alignment);
        classes[i] = {sizes[i], slot, std::min(slot & (0 - slot), page_bytes), 0, count * slot};
    }
    std::size_t offset = 0;
    for (std::size_t alignment = page_bytes; alignment > 0; alignment /= 2) {
        for (chunk_class& each : classes) {
            if (each.alignment != alignment) continue;
            each.offset = offset;
            offset += each.all_bytes;
        }
    }
    return classes;
}

}  // namespace acre::detail
