// Percentiles, means and deviations against the sorted list of all sizes.
#include <acre/observe/size_histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using acre::size_count;
using acre::size_histogram;
using acre_test::checking_upstream;

/// All sizes, sorted.
class reference {
public:
    void add(std::size_t bytes) { sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), bytes), bytes); }

    /// The smallest size such that at least a fraction `p` of all is not larger, found by trying each.
    std::size_t percentile(double p) const {
        const auto all = static_cast<double>(sorted_.size());
        for (std::size_t rank = 1; rank < sorted_.size(); ++rank) {
            const volatile double fraction = static_cast<double>(rank) / all;  // no more bits than a double has
            if (fraction >= p) return sorted_[rank - 1];
        }
        return sorted_.back();
    }
    double mean() const {
        double sum = 0;
        for (const std::size_t each : sorted_) sum += static_cast<double>(each);
        return sum / static_cast<double>(sorted_.size());
    }
    double standard_deviation() const {
        double squares = 0;
        for (const std::size_t each : sorted_) squares += std::pow(static_cast<double>(each) - mean(), 2);
        return std::sqrt(squares / static_cast<double>(sorted_.size()));
    }

private:
    std::vector<std::size_t> sorted_;
};

TEST(size_histogram, example) {
    acre::size_histogram sizes;
    for (const std::size_t bytes : {16u, 16u, 100u}) sizes.add(bytes);
    EXPECT_EQ(sizes.percentile(0.5), 16u);
    EXPECT_EQ(sizes.mean(), 44.0);
}

// Hazard M12: a small p took what lies before the first.
TEST(size_histogram, percentiles_of_every_p_are_those_of_the_sorted_list) {
    std::mt19937 random{12};
    for (const std::size_t count : {1u, 2u, 3u, 7u, 10u, 100u, 101u, 257u}) {
        size_histogram tested;
        reference sorted;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bytes = random() % 3 == 0 ? random() % 100'000 : 8 * (random() % 9);
            tested.add(bytes);
            sorted.add(bytes);
        }
        for (int i = 1; i <= 1'000; ++i) {
            const double p = i / 1'000.0;
            ASSERT_EQ(tested.percentile(p), sorted.percentile(p)) << p << " of " << count;
        }
        for (std::size_t i = 1; i <= count; ++i) {
            const double p = static_cast<double>(i) / static_cast<double>(count);
            ASSERT_EQ(tested.percentile(p), sorted.percentile(p)) << p << " of " << count;
            ASSERT_EQ(tested.percentile(std::nextafter(p, 2)), sorted.percentile(std::nextafter(p, 2))) << p;
        }
        EXPECT_EQ(tested.percentile(1e-300), sorted.percentile(1e-300));
    }
}

// Hazard M12.
TEST(size_histogram, percentiles_that_are_none) {
    size_histogram tested;
    EXPECT_EQ(tested.percentile(0.5), 0u);
    tested.add(10);
    tested.add(20);
    EXPECT_EQ(tested.percentile(0.05), 10u);
    EXPECT_EQ(tested.percentile(0), 10u);
    EXPECT_EQ(tested.percentile(-1), 10u);
    EXPECT_EQ(tested.percentile(std::nan("")), 10u);
    EXPECT_EQ(tested.percentile(2), 20u);
    EXPECT_EQ(tested.percentile(INFINITY), 20u);
}

// Hazard M12.
TEST(size_histogram, the_seventh_of_a_hundred) {
    // 0.07 * 100 is a little more than 7 in double.
    size_histogram tested;
    for (std::size_t bytes = 1; bytes <= 100; ++bytes) tested.add(bytes);
    EXPECT_EQ(tested.percentile(0.07), 7u);
    EXPECT_EQ(tested.percentile(0.5), 50u);
    EXPECT_EQ(tested.percentile(0.99), 99u);
    EXPECT_EQ(tested.percentile(0.991), 100u);
}

// Hazard M11: sums in integers gave 43.571 for 45.714.
TEST(size_histogram, mean_and_deviation_are_those_of_double) {
    size_histogram tested;
    reference sorted;
    for (const std::size_t bytes : {16u, 16u, 32u, 32u, 64u, 64u, 96u}) {
        tested.add(bytes);
        sorted.add(bytes);
    }
    EXPECT_DOUBLE_EQ(tested.mean(), 320.0 / 7);
    EXPECT_NEAR(tested.mean(), 45.714, 0.0005);
    EXPECT_DOUBLE_EQ(tested.standard_deviation(), sorted.standard_deviation());
    EXPECT_NEAR(tested.standard_deviation(), 27.618, 0.0005);
    tested.clear();
    for (const std::size_t bytes : {100u, 101u, 101u}) tested.add(bytes);
    EXPECT_NEAR(tested.mean(), 100.667, 0.0005);
    EXPECT_NEAR(tested.standard_deviation(), 0.4714, 0.00005);
}

// Hazard M11.
TEST(size_histogram, many_and_large_sizes) {
    size_histogram tested;
    reference sorted;
    std::mt19937 random{11};
    for (int i = 0; i < 5'000; ++i) {
        const std::size_t bytes = (std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 30)) + random() % 1'000'000;
        tested.add(bytes);
        sorted.add(bytes);
    }
    EXPECT_NEAR(tested.mean(), sorted.mean(), 1e-2);
    EXPECT_NEAR(tested.standard_deviation(), sorted.standard_deviation(), 1e-2);
}

TEST(size_histogram, nothing_is_zero) {
    const size_histogram tested;
    EXPECT_EQ(tested.mean(), 0.0);
    EXPECT_EQ(tested.standard_deviation(), 0.0);
    EXPECT_TRUE(tested.sizes().empty());
}

TEST(size_histogram, lists_each_size_once) {
    size_histogram tested;
    for (const std::size_t bytes : {300u, 0u, 20u, 300u, 20u, 300u}) tested.add(bytes);
    EXPECT_EQ(tested.sizes(), (std::vector<size_count>{{0, 1}, {20, 2}, {300, 3}}));
    EXPECT_EQ(tested.count(), 6u);
}

TEST(size_histogram, takes_memory_for_new_sizes_only_and_says_what_it_lost) {
    checking_upstream below;
    size_histogram tested{below};
    for (int i = 0; i < 10'000; ++i) tested.add(static_cast<std::size_t>(i % 10));
    EXPECT_EQ(below.requests(), 1u);
    below.fail_from(1);
    for (std::size_t bytes = 0; bytes < 1'000; ++bytes) tested.add(bytes);
    EXPECT_GT(tested.unrecorded(), 0u);
    EXPECT_EQ(tested.count() + tested.unrecorded(), 11'000u);
    EXPECT_EQ(tested.percentile(0.0001), 0u);
}

TEST(size_histogram, moves) {
    size_histogram first;
    first.add(10);
    size_histogram second{std::move(first)};
    EXPECT_EQ(first.count(), 0u);
    EXPECT_EQ(second.percentile(1), 10u);
    first.add(3);
    second = std::move(first);
    EXPECT_EQ(second.percentile(1), 3u);
}

TEST(size_histogram, copies_have_memory_of_their_own) {
    acre_test::checking_upstream below;
    {
        acre::size_histogram first{below};
        for (const std::size_t bytes : {16u, 16u, 100u}) first.add(bytes);
        const acre::size_histogram second{first};
        first.add(8);
        EXPECT_EQ(second.count(), 3u);
        const std::map<std::size_t, std::uint64_t> map = second.by_size();
        EXPECT_EQ(map, (std::map<std::size_t, std::uint64_t>{{16, 2}, {100, 1}}));
        below.fail_from(0);
        const acre::size_histogram third{first};
        EXPECT_EQ(third.count(), 0u);
        EXPECT_EQ(third.unrecorded(), 4u);
        EXPECT_EQ(third.percentile(1), 0u);
    }
    EXPECT_EQ(below.live_blocks(), 0u);
}

}  // namespace
