#include "tally_histogram.hpp"

#include "trace/format.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t finest_size = std::uint64_t{1} << 20;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 46;

}  // namespace

std::vector<std::uint64_t> size_bounds() {
    std::vector<std::uint64_t> bounds{1, 2, 4, 8, 16, 24};
    for (std::uint64_t size = 32; size <= largest_size; size *= 2) {
        bounds.push_back(size);
        if (size >= finest_size) continue;
        for (std::uint64_t quarter = 1; quarter < 4; ++quarter) bounds.push_back(size + size / 4 * quarter);
    }
    return bounds;
}

std::vector<std::uint64_t> time_bounds() {
    std::vector<std::uint64_t> bounds;
    for (std::uint64_t decade = format::tick_nanoseconds; decade <= 10'000'000'000'000; decade *= 10) {
        for (const std::uint64_t step : {1U, 2U, 5U}) bounds.push_back(step * decade);
    }
    bounds.erase(bounds.begin());  // times are known to a tick
    bounds.resize(bounds.size() - 2);
    return bounds;
}

std::vector<std::uint64_t> doubling_bounds() {
    std::vector<std::uint64_t> bounds;
    for (std::uint64_t bound = 1; bound <= largest_size; bound *= 2) bounds.push_back(bound);
    return bounds;
}

}  // namespace acre::tool
