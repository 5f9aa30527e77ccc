// Formatting of numbers for people.
#include "text/text.hpp"

#include <gtest/gtest.h>

namespace {

using namespace acre::tool;

TEST(text, counts_and_amounts) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(1'234'567), "1,234,567");
    EXPECT_EQ(bytes_text(812), "812 B");
    EXPECT_EQ(time_text(850), "850 ns");
    EXPECT_EQ(percent_text(0.123), "12.3 %");
}

TEST(text, one_and_many) {
    EXPECT_EQ(plural(1, "thread", "threads"), "1 thread");
    EXPECT_EQ(plural(2'000, "thread", "threads"), "2,000 threads");
}

TEST(text, means_have_a_decimal_if_small_and_not_whole) {
    const auto threads = [](double mean) { return plural_of_mean(mean, "thread", "threads"); };
    EXPECT_EQ(threads(0), "0 threads");
    EXPECT_EQ(threads(1), "1 thread");
    EXPECT_EQ(threads(1.04), "1 thread");
    EXPECT_EQ(threads(1.3), "1.3 threads");
    EXPECT_EQ(threads(4.0), "4 threads");
    EXPECT_EQ(threads(9.94), "9.9 threads");
    EXPECT_EQ(threads(2510.4), "2,510 threads");
}

}  // namespace
