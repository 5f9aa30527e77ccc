// A histogram that counts objects and their bytes by the class of a figure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "info/trace_summary.hpp"

namespace acre::tool {

class tally_histogram {
public:
    /// The bounds must ascend. Class 0 lies below the first bound; the last class begins at the last bound.
    explicit tally_histogram(std::vector<std::uint64_t> bounds)
        : bounds_{std::move(bounds)}, classes_(bounds_.size() + 1) {}

    void add(std::uint64_t value, std::uint64_t size) {
        const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), value);
        classes_[static_cast<std::size_t>(above - bounds_.begin())].add(size);
    }

    const std::vector<std::uint64_t>& bounds() const noexcept { return bounds_; }
    const std::vector<tally>& classes() const noexcept { return classes_; }

private:
    std::vector<std::uint64_t> bounds_;
    std::vector<tally> classes_;
};

/// 1, 2, 4, 8, 16, 24, 32, then four steps to each doubling up to 1 MiB, then doublings.
std::vector<std::uint64_t> size_bounds();

/// 1, 2, 5, 10 and so on, from 200 ns to 10,000 s in nanoseconds.
std::vector<std::uint64_t> time_bounds();

/// 1, 2, 4 and so on, up to 2^46.
std::vector<std::uint64_t> doubling_bounds();

}  // namespace acre::tool
