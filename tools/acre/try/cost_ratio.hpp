// What one way of running a program costs as a ratio to another, from runs in rounds.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/interval.hpp"

namespace acre::tool {

/// The ratio of what two ways cost, with its 95 % interval. `costs` has what each way cost in each round; a way that
/// stopped has fewer rounds, and one that took no part none. The two need at least one round.
///
/// What a round costs all ways, as where the machine is slower for a while, is taken out first, by a median polish
/// (Tukey, Exploratory Data Analysis, 1977). The ratio is then the estimate of Hodges and Lehmann (1963), the median of
/// the ratios of each run of one way to each run of the other, with the interval of the test of Mann and Whitney: where
/// the two runs of a round are compared with each other, one slow run of seven is an end of the interval.
interval cost_ratio(const std::vector<std::vector<double>>& costs, std::size_t way, std::size_t base);

}  // namespace acre::tool
