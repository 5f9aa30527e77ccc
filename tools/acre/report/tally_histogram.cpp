#include "tally_histogram.hpp"

#include "trace/format.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t last_quartered_size = std::uint64_t{1} << 20;
constexpr std::uint64_t max_bound = std::uint64_t{1} << 46;

}  // namespace

std::vector<std::uint64_t> size_bounds() {
    std::vector<std::uint64_t> bounds{1, 2, 4, 8, 16, 24};
    for (std::uint64_t size = 32; size <= max_bound; size *= 2) {
        bounds.push_back(size);
        if (size >= last_quartered_size) continue;
        for (std::uint64_t quarter = 1; quarter < 4; ++quarter) bounds.push_back(size + size / 4 * quarter);
    }
    return bounds;
}

std::vector<std::uint64_t> time_bounds() {
    std::vector<std::uint64_t> bounds;
    for (std::uint64_t decade = format::tick_nanoseconds; decade <= 10'000'000'000'000; decade *= 10) {
        for (const std::uint64_t step : {1U, 2U, 5U}) bounds.push_back(step * decade);
    }
    bounds.erase(bounds.begin());  // a time is known to one tick
    bounds.resize(bounds.size() - 2);
    return bounds;
}

std::vector<std::uint64_t> doubling_bounds() {
    std::vector<std::uint64_t> bounds;
    for (std::uint64_t bound = 1; bound <= max_bound; bound *= 2) bounds.push_back(bound);
    return bounds;
}

}  // namespace acre::tool
