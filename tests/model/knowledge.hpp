// What a thread knows, and what a release store passes on: what happens before, and for each atomic the oldest store
// that may still be read. These are happens-before and coherence of the C++ memory model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/clock.hpp"
#include "model/limits.hpp"

namespace model {

/// For each atomic, the position in its modification order before which no store may be read any more.
class floors {
public:
    std::size_t operator[](object_id object) const noexcept { return oldest_[object]; }

    void raise(object_id object, std::size_t store) noexcept {
        oldest_[object] = std::max(oldest_[object], static_cast<std::uint16_t>(store));
    }

    void join(const floors& other) noexcept {
        for (std::size_t i = 0; i < max_objects; ++i) oldest_[i] = std::max(oldest_[i], other.oldest_[i]);
    }

private:
    std::array<std::uint16_t, max_objects> oldest_{};
};

/// Both: what synchronises-with passes on.
struct knowledge {
    clock time;
    floors readable;

    void join(const knowledge& other) noexcept {
        time.join(other.time);
        readable.join(other.readable);
    }
};

}  // namespace model
