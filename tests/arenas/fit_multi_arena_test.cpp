// fit_multi_arena: its result suffices, one arena less does not, and workload W5 needs no more than the published
// figure.
#include <gtest/gtest.h>

#include <acre/adapt/pmr.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <acre/core/literals.hpp>
#include <memory_resource>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using namespace acre::literals;

bool serves(const acre::multi_arena_fit& fit, void (*workload)(acre::multi_arena&)) {
    acre::multi_arena tried{fit.options()};
    try {
        workload(tried);
    } catch (const acre::allocation_error&) {
        return false;
    }
    return true;
}

// W3 and W5: 64 vectors of up to 1,023 ints, replaced at random.
void camera(acre::multi_arena& arenas) {
    acre::pmr<acre::multi_arena&> resource{arenas};
    std::vector<std::pmr::vector<int>> live;
    for (int i = 0; i < 64; ++i) live.emplace_back(&resource);
    std::mt19937 random{1};
    for (int i = 0; i < 4096; ++i) {
        std::pmr::vector<int>& replaced = live[random() % 64];
        replaced = std::pmr::vector<int>{&resource};
        replaced.resize(random() % 1024);
    }
}

void hundred_of_100(acre::multi_arena& arenas) {
    void* all[100];
    for (void*& each : all) each = arenas.allocate(100);
    for (void* each : all) arenas.deallocate(each, 100);
}

TEST(fit_multi_arena, example) {
    const auto front = acre::fit_multi_arena(hundred_of_100);
    ASSERT_FALSE(front.empty());
    EXPECT_EQ(front.front(), (acre::multi_arena_fit{100, 112}));
    EXPECT_EQ(front.back().arenas, 1u);
    EXPECT_EQ(acre::smallest_fit(front).total_bytes(), 11200u);
}

TEST(fit_multi_arena, each_point_suffices_and_one_arena_less_does_not) {
    for (const auto workload : {hundred_of_100, camera}) {
        const auto front = acre::fit_multi_arena(workload, {.largest_bytes = 64_KiB});
        ASSERT_GE(front.size(), 3u);
        for (const acre::multi_arena_fit& each : front) {
            EXPECT_TRUE(serves(each, workload)) << each.arenas << " x " << each.bytes;
            if (each.arenas > 1) {
                EXPECT_FALSE(serves({each.arenas - 1, each.bytes}, workload)) << each.arenas << " x " << each.bytes;
            }
        }
        for (std::size_t i = 1; i < front.size(); ++i) {
            EXPECT_LT(front[i].arenas, front[i - 1].arenas);
            EXPECT_GT(front[i].bytes, front[i - 1].bytes);
        }
    }
}

// Workload W5 (bench/README.md).
TEST(fit_multi_arena, ends_at_64_arenas_of_4096_bytes_or_better) {
    const auto front = acre::fit_multi_arena(camera, {.largest_bytes = 64_KiB});
    ASSERT_FALSE(front.empty());
    EXPECT_LE(front.front().bytes, 4096u);
    EXPECT_LE(front.front().arenas, 64u);
}

TEST(fit_multi_arena, nothing_is_found_where_the_options_allow_nothing) {
    EXPECT_TRUE(acre::fit_multi_arena(hundred_of_100, {.largest_bytes = 64}).empty());
    EXPECT_TRUE(acre::fit_multi_arena(hundred_of_100, {.max_total_bytes = 4096}).empty());
    EXPECT_THROW((void)acre::fit_multi_arena(hundred_of_100, {.first_bytes = 0}), acre::bad_option);
}

TEST(fit_multi_arena, goes_up_to_the_limit_exactly_and_keeps_its_options) {
    const auto three = [](acre::multi_arena& arenas) {
        void* all[3];
        for (void*& each : all) each = arenas.allocate(1024);
        for (void* each : all) arenas.deallocate(each, 1024);
    };
    const auto front =
        acre::fit_multi_arena(three, {.first_bytes = 1024, .largest_bytes = 1024, .max_total_bytes = 3072, .open = 3});
    ASSERT_EQ(front.size(), 1u);
    EXPECT_EQ(front[0].arenas, 3u);
    EXPECT_EQ(front[0].options().open, 3u);
}

TEST(fit_multi_arena, what_the_workload_throws_is_passed_on) {
    EXPECT_THROW((void)acre::fit_multi_arena([](acre::multi_arena&) { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
}

// Hazard B6.
TEST(fit_multi_arena, sizes_do_not_wrap_where_nothing_bounds_them) {
    const auto large = [](acre::multi_arena& tried) { tried.deallocate(tried.try_allocate(2000), 2000); };
    EXPECT_TRUE(acre::fit_multi_arena(large, {.largest_bytes = SIZE_MAX, .max_total_bytes = 1000}).empty());
}

TEST(fit_multi_arena, a_workload_that_asks_for_nothing_needs_one_arena) {
    const auto front = acre::fit_multi_arena([](acre::multi_arena&) {});
    EXPECT_EQ(front, (std::vector<acre::multi_arena_fit>{{1, 32}}));
}

}  // namespace
