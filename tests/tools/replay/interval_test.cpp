#include "replay/interval.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace acre::tool;

TEST(interval, the_median_is_the_middle) {
    EXPECT_EQ(median_interval({}).median, 0);
    EXPECT_EQ(median_interval({5}).median, 5);
    EXPECT_EQ(median_interval({9, 1, 4}).median, 4);
    EXPECT_EQ(median_interval({1, 2, 4, 100}).median, 3);
}

TEST(interval, few_samples_give_their_range) {
    const interval found = median_interval({3, 1, 2});
    EXPECT_EQ(found.low, 1);
    EXPECT_EQ(found.high, 3);
}

TEST(interval, contains_the_median_as_often_as_promised) {
    std::mt19937 random{1};
    std::exponential_distribution<double> skewed{1};
    const double true_median = std::log(2.0);
    for (const std::size_t count : {9U, 20U, 101U}) {
        int held = 0;
        for (int i = 0; i < 2000; ++i) {
            std::vector<double> samples(count);
            for (double& each : samples) each = skewed(random);
            const interval found = median_interval(std::move(samples));
            if (found.low <= true_median && true_median <= found.high) ++held;
        }
        EXPECT_GT(held, 2000 * 0.94) << count;
        // The interval must not contain the median merely because it is wide.
        EXPECT_LT(held, 2000 * 0.999) << count;
    }
}

}  // namespace
