#include "cost_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace acre::tool {

namespace {

constexpr double min_cost = 1e-6;                // seconds: a cost of 0 has no logarithm
constexpr std::size_t ways_to_know_a_round = 4;  // of three, the median is often one of the two that are compared
constexpr int polishes = 5;
constexpr int halvings = 60;

double median_of(std::vector<double> samples) {
    return median_interval(std::move(samples)).median;
}

/// Logarithms of what ways cost in so many rounds: of the two, and of all others that took part in these rounds, if
/// these are enough to know what a round costs.
std::vector<std::vector<double>> logarithms(const std::vector<std::vector<double>>& costs, std::size_t way,
                                            std::size_t base) {
    const std::size_t rounds = std::min(costs[way].size(), costs[base].size());
    std::vector<std::size_t> chosen{way, base};
    for (std::size_t i = 0; i < costs.size(); ++i)
        if (i != way && i != base && costs[i].size() >= rounds) chosen.push_back(i);
    if (chosen.size() < ways_to_know_a_round) chosen.resize(2);
    std::vector<std::vector<double>> logs(chosen.size(), std::vector<double>(rounds));
    for (std::size_t i = 0; i < chosen.size(); ++i)
        for (std::size_t round = 0; round < rounds; ++round)
            logs[i][round] = std::log(std::max(costs[chosen[i]][round], min_cost));
    return logs;
}

/// Subtracts from each figure what its round costs all ways.
void take_out_rounds(std::vector<std::vector<double>>& logs) {
    std::vector<double> levels(logs.size());
    std::ranges::transform(logs, levels.begin(), median_of);
    std::vector<double> of_round(logs[0].size());
    for (int i = 0; i < polishes; ++i) {
        for (std::size_t round = 0; round < of_round.size(); ++round) {
            std::vector<double> left(logs.size());
            for (std::size_t way = 0; way < logs.size(); ++way) left[way] = logs[way][round] - levels[way];
            of_round[round] = median_of(std::move(left));
        }
        for (std::size_t way = 0; way < logs.size(); ++way) {
            std::vector<double> left(of_round.size());
            for (std::size_t round = 0; round < left.size(); ++round) left[round] = logs[way][round] - of_round[round];
            levels[way] = median_of(std::move(left));
        }
    }
    for (std::vector<double>& way : logs)
        for (std::size_t round = 0; round < way.size(); ++round) way[round] -= of_round[round];
}

/// The differences of each sample of one set to each of another: too many to list them.
class differences {
public:
    differences(std::vector<double> of, std::vector<double> to) : of_{std::move(of)}, to_{std::move(to)} {
        std::ranges::sort(of_);
        std::ranges::sort(to_);
    }

    std::uint64_t count() const noexcept { return std::uint64_t{of_.size()} * to_.size(); }

    /// The one that so many others are not above, by halving the range.
    double of_rank(std::uint64_t rank) const {
        double low = of_.front() - to_.back();
        double high = of_.back() - to_.front();
        for (int i = 0; i < halvings; ++i) {
            const double middle = low + (high - low) / 2;
            (up_to(middle) > rank ? high : low) = middle;
        }
        return high;
    }

private:
    std::uint64_t up_to(double limit) const {
        std::uint64_t found = 0;
        auto first = to_.begin();
        for (const double each : of_) {
            while (first != to_.end() && each - *first > limit) ++first;
            found += static_cast<std::uint64_t>(to_.end() - first);
        }
        return found;
    }

    std::vector<double> of_;
    std::vector<double> to_;
};

/// The Hodges-Lehmann estimate of the shift between as many samples of each, and its 95 % interval.
interval shift_of(const differences& all, std::size_t samples) {
    const std::uint64_t count = all.count();
    const auto n = static_cast<double>(samples);
    // Mann and Whitney's statistic, by its normal approximation.
    const double rank = std::floor(n * n / 2 - 1.96 * std::sqrt(n * n * (2 * n + 1) / 12));
    const auto low = static_cast<std::uint64_t>(std::max(rank, 0.0));
    return {all.of_rank(low), (all.of_rank((count - 1) / 2) + all.of_rank(count / 2)) / 2,
            all.of_rank(count - 1 - low)};
}

}  // namespace

interval cost_ratio(const std::vector<std::vector<double>>& costs, std::size_t way, std::size_t base) {
    if (way == base) return {1, 1, 1};
    std::vector<std::vector<double>> logs = logarithms(costs, way, base);
    const std::size_t rounds = logs[0].size();
    if (rounds == 0) return {};
    take_out_rounds(logs);
    const interval shift = shift_of(differences{std::move(logs[0]), std::move(logs[1])}, rounds);
    // What was taken out has a share of each way's own deviations in it.
    const auto ways = static_cast<double>(logs.size());
    const double wider = std::sqrt(ways / (ways - 1));
    return {std::exp(shift.median - wider * (shift.median - shift.low)), std::exp(shift.median),
            std::exp(shift.median + wider * (shift.high - shift.median))};
}

}  // namespace acre::tool
