// A median with the interval that holds it with 95 % confidence.
#pragma once

#include <vector>

namespace acre::tool {

struct interval {
    double low = 0;
    double median = 0;
    double high = 0;

    /// Half the width over the median: how well it is known.
    double uncertainty() const noexcept { return median == 0 ? 0 : (high - low) / 2 / median; }
};

/// By order statistics: nothing is assumed about how the samples are distributed. With fewer than six samples the
/// interval is their whole range.
interval median_interval(std::vector<double> samples);

}  // namespace acre::tool
