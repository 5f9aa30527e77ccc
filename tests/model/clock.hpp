// A vector clock: for each thread, the latest of its times that is known. What thread T did at its time N happens
// before everything done with a clock whose entry of T is at least N.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/limits.hpp"

namespace model {

/// A time for each thread.
class clock {
public:
    std::uint32_t& operator[](std::size_t thread) noexcept { return times_[thread]; }
    std::uint32_t operator[](std::size_t thread) const noexcept { return times_[thread]; }

    /// The maximum of both.
    void join(const clock& other) noexcept {
        for (std::size_t i = 0; i < max_threads; ++i) times_[i] = std::max(times_[i], other.times_[i]);
    }

    /// The first thread with a later time in `other`; max_threads if there is none.
    std::size_t first_unknown_of(const clock& other) const noexcept {
        std::size_t thread = 0;
        while (thread < max_threads && other.times_[thread] <= times_[thread]) ++thread;
        return thread;
    }

private:
    std::array<std::uint32_t, max_threads> times_{};
};

}  // namespace model
