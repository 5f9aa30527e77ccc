// Percentiles of lifetimes are at most a little too large, never too small.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "advise/group.hpp"

namespace {

using acre::tool::life_histogram;

TEST(life_histogram, a_percentile_is_at_most_a_quarter_too_large) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 200; ++round) {
        life_histogram lives;
        std::vector<std::uint64_t> exact;
        for (int i = 0; i < 99; ++i) {
            exact.push_back(random() >> (random() % 64));
            lives.add(exact.back());
        }
        std::sort(exact.begin(), exact.end());
        for (const std::size_t rank : {0U, 10U, 49U, 98U}) {
            const std::uint64_t found = lives.percentile(static_cast<double>(rank + 1) / 99);
            EXPECT_GE(found, exact[rank]);
            EXPECT_LE(found - exact[rank], exact[rank] / 4);
        }
    }
}

TEST(life_histogram, what_does_not_end_is_longer_than_anything) {
    life_histogram lives;
    EXPECT_EQ(lives.percentile(0.99), 0U);
    for (int i = 0; i < 98; ++i) lives.add(5);
    lives.add_endless(2);
    EXPECT_EQ(lives.percentile(0.98), 5U);
    EXPECT_EQ(lives.percentile(0.99), life_histogram::endless);
}

}  // namespace
