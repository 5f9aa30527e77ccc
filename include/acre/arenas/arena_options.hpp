// How an acre::arena grows, and how much storage a reset keeps.
//
//     using namespace acre::literals;
//     acre::arena frame{{.first_block_bytes = 64_KiB, .limit_bytes = 16_MiB}};
//     frame.reset(acre::keep_largest);
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <cstddef>
#include <cstdint>

namespace acre {

/// How an arena grows.
struct arena_options {
    std::size_t first_block_bytes = 0;   // at least 32; 0: 4 KiB, or max_block_bytes if that is less
    std::size_t max_block_bytes = 0;     // blocks double up to this; 0: 1 MiB, or first_block_bytes if that is more
    std::size_t limit_bytes = SIZE_MAX;  // the arena never holds more than this from upstream
    std::size_t fixed_bytes = 0;         // if not 0, alone: the usable bytes, taken at construction; it never grows

    /// A copy with the defaults in place of zeros.
    constexpr arena_options completed() const noexcept {
        arena_options all = *this;
        if (all.first_block_bytes == 0)
            all.first_block_bytes = max_block_bytes == 0 ? 4_KiB : detail::min(4_KiB, max_block_bytes);
        if (all.max_block_bytes == 0) all.max_block_bytes = detail::max(1_MiB, all.first_block_bytes);
        return all;
    }
};

/// How much storage a reset keeps for the next round; use the constants below. This decides more about speed than
/// anything else: releasing pages and faulting them in again made a good arena eleven times slower.
struct reset_policy {
    /// What the constants below stand for.
    enum class kind : unsigned char { keep_all, keep_largest, keep_bytes, release };

    /// Which blocks stay.
    kind what = kind::keep_all;
    std::size_t bytes = SIZE_MAX;  // for keep_bytes: at most this many bytes of blocks stay
};

/// Keeps every block, the default: the next round takes nothing from upstream.
inline constexpr reset_policy keep_all{reset_policy::kind::keep_all, SIZE_MAX};
/// Keeps only the largest block.
inline constexpr reset_policy keep_largest{reset_policy::kind::keep_largest, SIZE_MAX};
/// Releases every block to upstream; growth starts from the first size again.
inline constexpr reset_policy release{reset_policy::kind::release, 0};
/// Keeps blocks, the oldest first, of at most `bytes` bytes together.
constexpr reset_policy keep(std::size_t bytes) noexcept {
    return {reset_policy::kind::keep_bytes, bytes};
}

}  // namespace acre
