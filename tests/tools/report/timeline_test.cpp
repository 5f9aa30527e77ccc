#include "report/timeline.hpp"

#include <gtest/gtest.h>

namespace {

using acre::tool::time_bucket;
using acre::tool::timeline;

TEST(timeline, has_the_live_bytes_of_each_bucket) {
    timeline line;
    line.allocate(0, 100);
    line.allocate(10, 50);
    line.release(20, 100);
    line.allocate(3000, 7);
    EXPECT_EQ(line.live_bytes(), 57U);
    EXPECT_EQ(line.bucket_nanoseconds(), 1000U);
    const std::vector<time_bucket> buckets = line.finish();
    ASSERT_EQ(buckets.size(), 4U);
    EXPECT_EQ(buckets[0].max_bytes, 150U);
    EXPECT_EQ(buckets[0].last_bytes, 50U);
    EXPECT_EQ(buckets[0].allocated.count, 2U);
    EXPECT_EQ(buckets[0].allocated.bytes, 150U);
    EXPECT_EQ(buckets[0].frees, 1U);
    EXPECT_EQ(buckets[1].max_bytes, 50U);
    EXPECT_EQ(buckets[2].last_bytes, 50U);
    EXPECT_EQ(buckets[3].max_bytes, 57U);
}

TEST(timeline, live_bytes_from_before_count_in_a_bucket) {
    timeline line;
    line.allocate(0, 100);
    line.release(1000, 100);
    EXPECT_EQ(line.finish()[1].max_bytes, 100U);
}

TEST(timeline, needs_no_more_buckets_for_a_longer_run) {
    timeline line;
    constexpr std::uint64_t objects = 100'000;
    for (std::uint64_t i = 0; i < objects; ++i) {
        line.allocate(i * 1000, i % 10);
        if (i % 2 == 1) line.release(i * 1000, (i - 1) % 10);
    }
    EXPECT_GE(line.bucket_nanoseconds() * timeline::max_buckets, objects * 1000);
    EXPECT_LE(line.bucket_nanoseconds() * timeline::max_buckets, objects * 1000 * 2 + 200'000);
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t frees = 0;
    const std::uint64_t live = line.live_bytes();
    const std::vector<time_bucket> buckets = line.finish();
    for (const time_bucket& each : buckets) {
        allocations += each.allocated.count;
        bytes += each.allocated.bytes;
        frees += each.frees;
    }
    EXPECT_LE(buckets.size(), timeline::max_buckets);
    EXPECT_EQ(allocations, objects);
    EXPECT_EQ(bytes, objects / 10 * 45);
    EXPECT_EQ(frees, objects / 2);
    EXPECT_EQ(buckets.back().last_bytes, live);
}

TEST(timeline, takes_any_time) {
    timeline line;
    line.allocate(~std::uint64_t{0}, 8);
    line.allocate(5, 8);  // a clock that goes back
    const std::vector<time_bucket> buckets = line.finish();
    EXPECT_LE(buckets.size(), timeline::max_buckets);
    EXPECT_EQ(buckets.back().max_bytes, 16U);
    EXPECT_EQ(buckets.front().max_bytes, 0U);
}

TEST(timeline, of_nothing_is_empty) {
    EXPECT_TRUE(timeline{}.finish().empty());
}

}  // namespace
