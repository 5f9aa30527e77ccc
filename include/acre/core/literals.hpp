// Sizes as people write them: 64_KiB, 1_MiB, 2_GiB, in bytes. A size that the target cannot address does not compile.
//
//     using namespace acre::literals;
//     static_assert(64_KiB == 65536);
#pragma once

#include <acre/core/detail/language.hpp>
#include <cstddef>

namespace acre::detail {

/// No constant expression calls it: the compiler's error names it.
inline void this_size_is_more_than_the_target_can_address() {}

consteval std::size_t shifted(unsigned long long count, int bits) {
    if (count > static_cast<std::size_t>(-1) >> bits) this_size_is_more_than_the_target_can_address();
    return static_cast<std::size_t>(count) << bits;
}

}  // namespace acre::detail

namespace acre::inline literals {

/// Bytes in `count` kibibytes.
consteval std::size_t operator""_KiB(unsigned long long count) {
    return detail::shifted(count, 10);
}

/// Bytes in `count` mebibytes.
consteval std::size_t operator""_MiB(unsigned long long count) {
    return detail::shifted(count, 20);
}

/// Bytes in `count` gibibytes.
consteval std::size_t operator""_GiB(unsigned long long count) {
    return detail::shifted(count, 30);
}

}  // namespace acre::inline literals
