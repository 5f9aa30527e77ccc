// How containers get their buffers: what growing and making them anew costs.
#pragma once

#include <cstdint>

namespace acre::tool {

/// The buffers of std::vectors or std::strings in one place. All buffers of one container are one thing: the last.
struct growth_figures {
    std::uint64_t containers = 0;     // that had a buffer
    std::uint64_t replaced = 0;       // buffers that a larger one of the same container took the place of
    std::uint64_t copied_bytes = 0;   // of these
    std::uint64_t most_alive = 0;     // containers with a buffer at a time, in one thread
    std::uint64_t element_bytes = 0;  // 0: not known
    // Of the last buffers.
    std::uint64_t median_bytes = 0;
    std::uint64_t p99_bytes = 0;
    std::uint64_t largest_bytes = 0;

    std::uint64_t buffers() const noexcept { return containers + replaced; }

    bool has_one_size() const noexcept { return median_bytes == largest_bytes; }

    /// What to reserve: what nearly all need, unless that is far more than half of them do.
    std::uint64_t bytes_to_reserve() const noexcept {
        constexpr std::uint64_t far_more = 4;
        return p99_bytes / far_more <= median_bytes ? p99_bytes : median_bytes;
    }
};

}  // namespace acre::tool
