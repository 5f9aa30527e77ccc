// The counts of a selection, and the sizes of arenas and pools computed from them.
#include "fit/census.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include "made_workload.hpp"
#include "tools/support/random_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

TEST(census, counts_the_live_objects) {
    made_trace made;
    const auto stack = made.stack({"main", "work"});
    const auto a = made.allocate(stack, 100);
    const auto b = made.allocate(stack, 100);
    made.release(a, stack, 1);
    made.allocate(stack, 5000);
    made.release(b, stack);
    const census found = take_census(source_of(made));
    EXPECT_EQ(found.objects, 3U);
    EXPECT_EQ(found.bytes, 5200U);
    EXPECT_EQ(found.never_freed, 1U);
    EXPECT_EQ(found.peak_objects, 2U);
    EXPECT_EQ(found.peak_bytes, 5100U);
    EXPECT_EQ(found.peak_granules, 7U + 313U);
    EXPECT_EQ(found.freed_elsewhere, 1U);
    EXPECT_EQ(found.threads, 1U);
    EXPECT_EQ(found.largest, 5000U);
    ASSERT_EQ(found.sizes.size(), 1U);
    EXPECT_EQ(found.sizes[0].bytes, 100U);
    EXPECT_EQ(found.sizes[0].objects, 2U);
    EXPECT_EQ(found.sizes[0].peak_objects, 2U);
    EXPECT_EQ(found.larger.objects, 1U);
}

TEST(census, both_objects_of_a_realloc_live_for_a_moment) {
    made_trace made;
    const auto stack = made.stack({"main", "grow"});
    const auto a = made.allocate(stack, 64);
    made.release(a, stack, 0, operation::realloc);
    made.allocate(stack, 64, 0, operation::realloc);
    EXPECT_EQ(take_census(source_of(made)).peak_objects, 2U);
}

// Requests of 10 objects each; every tenth is ten times as large.
TEST(census, measures_generations) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    made_trace made;
    const auto stack = made.stack({"main", "request"});
    for (int i = 0; i < 100; ++i) {
        std::vector<std::uint64_t> objects;
        for (int n = 0; n < 10; ++n) objects.push_back(made.allocate(stack, i % 10 == 9 ? 1000 : 100));
        for (const auto each : objects) made.release(each, stack);
    }
    const generation_sizes found = take_census(source_of(made)).generations;
    // 100 bytes are 104 in an arena, and 112 from one multiple of 16 to the next. The header is 24, the first at 32.
    const std::uint64_t small = 32 + 9 * 112 + 104;
    const std::uint64_t large = 32 + 9 * 1008 + 1000;
    EXPECT_EQ(found.count, 100U);
    EXPECT_EQ(found.objects, 1000U);
    EXPECT_EQ(found.p50_bytes, small);
    EXPECT_EQ(found.p99_bytes, large);
    EXPECT_EQ(found.max_bytes, large);
}

TEST(census, a_last_generation_counts_even_if_it_does_not_end) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    made_trace made;
    const auto stack = made.stack({"main", "request"});
    made.release(made.allocate(stack, 16), stack);
    made.allocate(stack, 1 << 20);
    const generation_sizes found = take_census(source_of(made)).generations;
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.p99_bytes, 48U);
    EXPECT_EQ(found.max_bytes, 32U + (1 << 20));
}

TEST(census, refuses_impossible_sizes) {
    const made_trace made = random_trace(3, 5000);
    EXPECT_THROW(take_census(source_of(made)), tool_error);
}

TEST(census, the_bound_of_half_fit) {
    static_assert(half_fit_bound(100, 1) == 200);
    static_assert(half_fit_bound(100, 2) == 400);
    static_assert(half_fit_bound(100, 9) == 1000);
}

}  // namespace
