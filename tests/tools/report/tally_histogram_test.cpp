#include "report/tally_histogram.hpp"

#include <gtest/gtest.h>

namespace {

using namespace acre::tool;

TEST(tally_histogram, counts_between_its_bounds) {
    tally_histogram histogram{{10, 20}};
    for (const std::uint64_t value : {0U, 9U, 10U, 19U, 20U, 1000U}) histogram.add(value, value * 2);
    ASSERT_EQ(histogram.classes().size(), 3U);
    for (const tally& each : histogram.classes()) EXPECT_EQ(each.count, 2U);
    EXPECT_EQ(histogram.classes()[0].bytes, 18U);
    EXPECT_EQ(histogram.classes()[1].bytes, 58U);
    EXPECT_EQ(histogram.classes()[2].bytes, 2040U);
}

TEST(tally_histogram, takes_any_value) {
    for (const auto& bounds : {size_bounds(), time_bounds(), doubling_bounds()}) {
        EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
        EXPECT_EQ(std::adjacent_find(bounds.begin(), bounds.end()), bounds.end());
        tally_histogram histogram{bounds};
        histogram.add(0, 1);
        histogram.add(~std::uint64_t{0}, 1);
        EXPECT_EQ(histogram.classes().front().count, 1U);
        EXPECT_EQ(histogram.classes().back().count, 1U);
    }
}

TEST(tally_histogram, has_round_bounds) {
    const auto sizes = size_bounds();
    for (const std::uint64_t size : {16U, 24U, 32U, 40U, 48U, 56U, 64U, 80U, 4096U, 1U << 20, 1U << 21}) {
        EXPECT_TRUE(std::binary_search(sizes.begin(), sizes.end(), size)) << size;
    }
    EXPECT_FALSE(std::binary_search(sizes.begin(), sizes.end(), std::uint64_t{3} << 20));
    const auto times = time_bounds();
    EXPECT_EQ(times.front(), 2000U);
    EXPECT_EQ(times.back(), 10'000'000'000'000U);
    EXPECT_TRUE(std::binary_search(times.begin(), times.end(), 5'000U));
}

}  // namespace
