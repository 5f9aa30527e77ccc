// How much storage a reset keeps for the next round. This decides more about speed than anything else: giving pages
// back and faulting them in again made a good arena eleven times slower.
//
//     level.reset(acre::keep_all);            // the default: the next round takes nothing from upstream
//     level.reset(acre::keep_largest);        // one block, the largest
//     level.reset(acre::keep(256_KiB));       // blocks of at most 256 KiB together
//     level.reset(acre::release);             // everything back to upstream, growth starts anew
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre {

/// What a reset keeps; use the constants below.
struct reset_policy {
    /// Which of the four.
    enum class kind : unsigned char { keep_all, keep_largest, keep_bytes, release };

    kind what = kind::keep_all;
    std::size_t bytes = SIZE_MAX;  // for keep_bytes: at most this many bytes of blocks stay
};

/// Every block stays.
inline constexpr reset_policy keep_all{reset_policy::kind::keep_all, SIZE_MAX};
/// Only the largest block stays.
inline constexpr reset_policy keep_largest{reset_policy::kind::keep_largest, SIZE_MAX};
/// Every block goes back to upstream, and growth starts from its first size again.
inline constexpr reset_policy release{reset_policy::kind::release, 0};
/// Blocks stay, the oldest first, while they are at most `bytes` bytes together.
constexpr reset_policy keep(std::size_t bytes) noexcept {
    return {reset_policy::kind::keep_bytes, bytes};
}

}  // namespace acre
