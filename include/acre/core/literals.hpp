// Sizes as people write them: 64_KiB, 1_MiB, 2_GiB, in bytes.
//
//     using namespace acre::literals;
//     static_assert(64_KiB == 65536);
#pragma once

#include <cstddef>

namespace acre::inline literals {

/// Bytes in `count` kibibytes.
consteval std::size_t operator""_KiB(unsigned long long count) {
    return static_cast<std::size_t>(count) << 10;
}

/// Bytes in `count` mebibytes.
consteval std::size_t operator""_MiB(unsigned long long count) {
    return static_cast<std::size_t>(count) << 20;
}

/// Bytes in `count` gibibytes.
consteval std::size_t operator""_GiB(unsigned long long count) {
    return static_cast<std::size_t>(count) << 30;
}

}  // namespace acre::inline literals
