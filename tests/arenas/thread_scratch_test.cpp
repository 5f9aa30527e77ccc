// Thread scratches: never in an arena for results; nested; in several threads.
#include <gtest/gtest.h>

#include <acre/arenas/thread_scratch.hpp>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::span<int> squares(acre::arena& results, std::size_t count) {
    acre::scratch temp = acre::thread_scratch(results);
    const std::span<int> numbers = temp.allocate<int>(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::span<int> all = results.allocate<int>(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = numbers[i] * numbers[i];
    return all;
}

TEST(thread_scratch, example) {
    acre::arena level;
    const std::span<int> all = squares(level, 100);
    EXPECT_EQ(all[99], 99 * 99);
}

// Hazard X9: a function whose results go to the caller's scratch must not put its temporaries there.
TEST(thread_scratch, never_one_of_those_passed_in) {
    acre::scratch outer = acre::thread_scratch();
    std::span<int> results;
    {
        acre::scratch temp = acre::thread_scratch(outer);
        EXPECT_NE(&temp.parent(), &outer.parent());
        results = squares(outer.parent(), 1000);
        std::memset(temp.allocate(10'000), 0xff, 10'000);
        acre::scratch third = acre::thread_scratch(outer, temp);
        acre::scratch fourth = acre::thread_scratch(outer, temp, third.parent());
        EXPECT_NE(&third.parent(), &outer.parent());
        EXPECT_NE(&third.parent(), &temp.parent());
        EXPECT_NE(&fourth.parent(), &outer.parent());
        EXPECT_NE(&fourth.parent(), &temp.parent());
        EXPECT_NE(&fourth.parent(), &third.parent());
    }
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(results[static_cast<std::size_t>(i)], i * i);
}

TEST(thread_scratch, without_a_conflict_the_same_storage_is_used_again) {
    const void* first = acre::thread_scratch().allocate(100);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(acre::thread_scratch().allocate(100), first);
}

TEST(thread_scratch, its_memory_can_be_given_back) {
    {
        acre::scratch temp = acre::thread_scratch();
        (void)temp.allocate(100'000);
    }
    EXPECT_GT(acre::thread_scratch_capacity(), 100'000u);
    acre::release_thread_scratch();
    EXPECT_EQ(acre::thread_scratch_capacity(), 0u);
}

TEST(thread_scratch, each_thread_has_its_own) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; ++i) {
                acre::scratch outer = acre::thread_scratch();
                const std::span<int> own = outer.allocate<int>(100);
                std::fill(own.begin(), own.end(), t);
                const std::span<int> more = squares(outer.parent(), 20);
                ASSERT_EQ(more[19], 361);
                for (const int each : own) ASSERT_EQ(each, t);
            }
        });
    }
    for (std::thread& each : threads) each.join();
}

struct last_words {
    ~last_words() {
        acre::scratch temp = acre::thread_scratch();
        std::span<int> squared = squares(temp.parent(), 1000);
        EXPECT_EQ(squared[999], 999 * 999);
        acre::scratch inner = acre::thread_scratch();
        (void)inner.allocate(10'000);
        inner.end();
        EXPECT_EQ(squared[998], 998 * 998);
        temp.end();
        // The scratch of `squares` has ended: it uses nothing.
        EXPECT_EQ(acre::thread_scratch_capacity(), 0u);
    }
};

// Destructors that run after the thread's arenas were released may begin a scratch.
// Hazard X6.
TEST(thread_scratch, serves_destructors_that_run_after_its_memory_is_given_back) {
    std::thread{[] {
        thread_local last_words later;
        (void)&later;
        (void)acre::thread_scratch().allocate(100);
    }}.join();
}

}  // namespace
