// Stretches of time in which something was so, drawn as bands under the plots over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace acre::tool {

/// One stretch, or several that are too close together to be told apart.
struct band {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t count = 1;
    std::uint64_t bytes = 0;  // allocated in the largest of them
};

/// The bands of one thing in one thread: at most `max_bands`, however many stretches there are.
class band_lane {
public:
    static constexpr std::size_t max_bands = 240;

    /// Stretches come in the order of time and do not overlap.
    void add(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);

    const std::vector<band>& bands() const noexcept { return bands_; }
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t total_time() const noexcept { return total_time_; }
    std::uint64_t longest() const noexcept { return longest_; }

private:
    bool is_close(const band& first, const band& second) const noexcept { return second.end - first.begin <= width_; }
    void merge_close();

    std::vector<band> bands_;
    std::uint64_t width_ = 0;  // bands that lie in so many nanoseconds are one
    std::uint64_t count_ = 0;
    std::uint64_t total_time_ = 0;
    std::uint64_t longest_ = 0;
};

/// A lane with what is said beside it.
struct named_lane {
    std::string name;
    std::uint32_t thread = 0;
    std::size_t advice = 0;  // of generations: the position of the advice
    band_lane lane;
};

/// Lanes that are shown; the others are counted.
struct lane_list {
    std::vector<named_lane> lanes;
    std::uint64_t omitted = 0;

    /// Keeps the `most` of the longest time, in the order that they were in.
    void keep_longest(std::size_t most);
};

}  // namespace acre::tool
