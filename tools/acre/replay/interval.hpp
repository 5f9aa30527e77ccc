// A median with its 95 % confidence interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace acre::tool {

struct interval {
    double low = 0;
    double median = 0;
    double high = 0;

    /// Half the interval's width divided by the median.
    double uncertainty() const noexcept { return median == 0 ? 0 : (high - low) / 2 / median; }
};

/// With fewer rounds the intervals hold the truth less often than 95 %.
inline constexpr std::size_t min_interval_rounds = 6;

/// What an interval of so many rounds is, as the head of a column.
inline const char* interval_name(std::size_t rounds) noexcept {
    return rounds >= min_interval_rounds ? "95 % interval" : "lowest, highest";
}

/// By order statistics, which assume nothing about the distribution of the samples. With fewer than
/// min_interval_rounds samples the interval is their whole range.
inline interval median_interval(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t count = samples.size();
    const double median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
    // The number of samples below the median is binomial with p = 1/2: its normal approximation gives the ranks.
    const auto n = static_cast<double>(count);
    const double rank = std::floor((n - 1.96 * std::sqrt(n)) / 2);
    const auto low = static_cast<std::size_t>(std::max(rank, 0.0));
    return {samples[low], median, samples[count - 1 - low]};
}

}  // namespace acre::tool
