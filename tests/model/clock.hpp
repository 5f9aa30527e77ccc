// A vector clock: up to which of its own times each thread is known. What thread T did at its time N happens before
// whatever is done with a clock that has T at N or later.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/limits.hpp"

namespace model {

/// One time for each thread.
class clock {
public:
    std::uint32_t& operator[](std::size_t thread) noexcept { return times_[thread]; }
    std::uint32_t operator[](std::size_t thread) const noexcept { return times_[thread]; }

    /// Knows from now on what the other knows, too.
    void join(const clock& other) noexcept {
        for (std::size_t i = 0; i < max_threads; ++i) times_[i] = std::max(times_[i], other.times_[i]);
    }

    /// The first thread that the other knows at a later time than this one does; max_threads if there is none.
    std::size_t first_unknown_of(const clock& other) const noexcept {
        std::size_t thread = 0;
        while (thread < max_threads && other.times_[thread] <= times_[thread]) ++thread;
        return thread;
    }

private:
    std::array<std::uint32_t, max_threads> times_{};
};

}  // namespace model
