// The ratio of what two ways of running a program cost: what is taken out, and how often the interval holds the truth.
#include "try/cost_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using namespace acre::tool;
using costs = std::vector<std::vector<double>>;

TEST(cost_ratio, of_one_round_is_that_of_its_runs) {
    const interval ratio = cost_ratio({{2.0}, {3.0}}, 1, 0);
    EXPECT_DOUBLE_EQ(ratio.low, 1.5);
    EXPECT_DOUBLE_EQ(ratio.median, 1.5);
    EXPECT_DOUBLE_EQ(ratio.high, 1.5);
    EXPECT_EQ(cost_ratio({{2.0}, {}}, 1, 0).median, 0);
}

TEST(cost_ratio, of_a_way_to_itself_is_1) {
    const interval ratio = cost_ratio({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, 1, 1);
    EXPECT_EQ(ratio.low, 1);
    EXPECT_EQ(ratio.high, 1);
}

TEST(cost_ratio, has_nothing_of_what_a_round_costs_all) {
    for (const std::size_t ways : {2U, 3U, 5U}) {
        costs all(ways);
        for (const double round : {1.0, 1.1, 1.5, 3.0, 2.0, 0.9})
            for (std::size_t way = 0; way < ways; ++way) all[way].push_back(round * (way == 1 ? 0.8 : 1.0));
        const interval ratio = cost_ratio(all, 1, 0);
        EXPECT_NEAR(ratio.low, 0.8, 1e-9) << ways;
        EXPECT_NEAR(ratio.high, 0.8, 1e-9) << ways;
    }
}

// Where the runs of a round are compared, the interval of seven reaches from .4 to 1.
TEST(cost_ratio, one_slow_run_of_seven_is_no_end) {
    costs all{{1.00, 1.01, 0.99, 2.00, 1.02, 0.98, 1.00},
              {0.80, 0.79, 0.81, 0.80, 0.82, 1.00, 0.80},
              {0.90, 0.91, 0.90, 0.89, 0.90, 0.92, 0.90},
              {0.70, 0.70, 0.71, 0.69, 0.70, 0.71, 0.70}};
    const interval ratio = cost_ratio(all, 1, 0);
    EXPECT_NEAR(ratio.median, 0.8, 0.02);
    EXPECT_GT(ratio.low, 0.7);
    EXPECT_LT(ratio.high, 0.9);
}

TEST(cost_ratio, a_way_that_stopped_is_compared_in_its_rounds) {
    costs all{{1, 1, 1, 5, 5, 5}, {2, 2, 2}, {1, 1, 1, 5, 5, 5}, {1, 1, 1, 5, 5, 5}, {}};
    EXPECT_NEAR(cost_ratio(all, 1, 0).median, 2, 1e-9);
    EXPECT_NEAR(cost_ratio(all, 2, 0).median, 1, 1e-9);
}

TEST(cost_ratio, a_cost_of_nothing_is_compared) {
    const interval ratio = cost_ratio({{0.0, 0.0}, {0.0, 0.0}}, 1, 0);
    EXPECT_EQ(ratio.median, 1);
}

TEST(cost_ratio, thousands_of_rounds_take_no_time) {
    costs all(8, std::vector<double>(20'000));
    std::mt19937 random{1};
    std::lognormal_distribution<double> noise{0, 0.05};
    for (auto& way : all)
        for (double& each : way) each = noise(random);
    const interval ratio = cost_ratio(all, 1, 0);
    EXPECT_NEAR(ratio.median, 1, 0.005);
    EXPECT_LT(ratio.high - ratio.low, 0.01);
}

// Runs that vary by 1 %, of which one in four is slow besides, on a machine that drifts by 5 % from round to round.
TEST(cost_ratio, its_interval_holds_the_truth_nine_times_in_ten) {
    std::mt19937 random{7};
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> slow{1 / 0.08};
    for (const std::size_t ways : {2U, 3U, 4U, 8U}) {
        for (const std::size_t rounds : {6U, 20U}) {
            int held = 0;
            constexpr int trials = 200;
            for (int trial = 0; trial < trials; ++trial) {
                costs all(ways);
                for (std::size_t round = 0; round < rounds; ++round) {
                    const double drift = 0.05 * normal(random);
                    for (auto& way : all) {
                        const double late = random() % 4 == 0 ? slow(random) : 0;
                        way.push_back(std::exp(drift + 0.01 * normal(random) + late));
                    }
                }
                const interval ratio = cost_ratio(all, 1, 0);
                EXPECT_LE(ratio.low, ratio.median);
                EXPECT_LE(ratio.median, ratio.high);
                held += ratio.low <= 1 && 1 <= ratio.high ? 1 : 0;
            }
            EXPECT_GE(held, trials * 88 / 100) << ways << " ways, " << rounds << " rounds";
        }
    }
}

}  // namespace
