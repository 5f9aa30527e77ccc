// acre::concurrent_object_pool across threads, at the end of a thread and of the pool, and in the child after a fork.
#include <gtest/gtest.h>

#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::concurrent_object_pool;
using acre::concurrent_pool;
using acre_test::busy_threads;
using acre_test::checking_upstream;
using acre_test::in_child;
using acre_test::in_threads;

class concurrent_pool_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, concurrent_pool_threads, testing::Values(4, 16));

// Hazards N11, M20 where the sanitizer watches.
TEST_P(concurrent_pool_threads, allocate_here_free_there) {
    checking_upstream upstream;
    concurrent_pool<40> tested{upstream};
    acre_test::allocate_here_free_there(
        GetParam(), 40, 5000, [&] { return tested.allocate(); }, [&](void* p) { tested.deallocate(p); });
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(tested.capacity(), upstream.live_bytes());
    tested.release_unused();
    EXPECT_LE(tested.capacity(), (GetParam() + 1) * sizeof(acre::detail::thread_cache))
        << "the caches of threads that ended";
}

// Hazard M20.
TEST_P(concurrent_pool_threads, large_slots_in_small_magazines) {
    concurrent_pool<12'000> tested;
    acre_test::allocate_here_free_there(
        GetParam(), 12'000, 800, [&] { return tested.allocate(); }, [&](void* p) { tested.deallocate(p); });
    EXPECT_EQ(tested.live(), 0u);
}

// Hazard M20.
TEST_P(concurrent_pool_threads, at_the_limit) {
    checking_upstream upstream;
    constexpr std::size_t limit = 200'000;
    concurrent_pool<64> tested{acre::concurrent_pool_options{.limit_bytes = limit}, upstream};
    acre_test::allocate_here_free_there(
        GetParam(), 64, 4000, [&] { return tested.try_allocate(); }, [&](void* p) { tested.deallocate(p); });
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_LE(upstream.peak_bytes(), limit);
}

// An upstream that fails when two threads call it at once.
class one_at_a_time {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) {
        const inside now{*this};
        return acre::heap{}.allocate(bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        const inside now{*this};
        return acre::heap{}.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        const inside now{*this};
        acre::heap{}.deallocate(p, bytes, alignment);
    }
    bool called_by_two() const noexcept { return called_by_two_; }

private:
    struct inside {
        explicit inside(one_at_a_time& entered) : owner(entered) {
            if (owner.inside_.exchange(true)) owner.called_by_two_ = true;
            std::this_thread::yield();
        }
        inside(const inside&) = delete;
        inside& operator=(const inside&) = delete;
        ~inside() { owner.inside_ = false; }
        one_at_a_time& owner;
    };
    std::atomic<bool> inside_{false};
    std::atomic<bool> called_by_two_{false};
};

TEST_P(concurrent_pool_threads, upstream_is_called_by_one_thread_at_a_time) {
    one_at_a_time upstream;
    concurrent_pool<2000> tested{upstream};
    for (int generation = 0; generation < 5; ++generation) {
        in_threads(GetParam(), [&](std::size_t self) {
            std::vector<void*> taken;
            for (std::size_t i = 0; i < 200; ++i) {
                if ((i + self) % 3 == 0) tested.deallocate(tested.allocate(5000, 8), 5000, 8);
                taken.push_back(tested.allocate());
                if (i % 50 == 49) tested.release_unused();
            }
            for (void* each : taken) tested.deallocate(each);
        });
    }
    EXPECT_FALSE(upstream.called_by_two());
    EXPECT_EQ(tested.live(), 0u);
}

// Hazard M21: what is asked while others go on is near the truth, and races with nobody.
TEST_P(concurrent_pool_threads, questions_beside_allocations) {
    concurrent_pool<64> tested;
    std::atomic<bool> over{false};
    std::thread asks{[&] {
        while (!over) {
            EXPECT_LE(tested.live(), 200'000u) << "the count wrapped";
            EXPECT_EQ(tested.used() % 64, 0u);
            EXPECT_LE(tested.capacity(), 200'000u * 64);
            EXPECT_FALSE(tested.owns(&over));
            tested.release_unused();
        }
    }};
    acre_test::allocate_here_free_there(
        GetParam(), 64, 2000, [&] { return tested.allocate(); }, [&](void* p) { tested.deallocate(p); });
    over = true;
    asks.join();
    EXPECT_EQ(tested.live(), 0u);
}

TEST(concurrent_pool_ends, live_is_exact_while_other_threads_keep_slots) {
    concurrent_pool<64> tested;
    std::latch used{3};
    std::latch over{1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            std::vector<void*> taken;
            for (int k = 0; k < 1000; ++k) taken.push_back(tested.allocate());
            for (std::size_t k = 10; k < taken.size(); ++k) tested.deallocate(taken[k]);
            used.count_down();
            over.wait();
        });
    }
    used.wait();
    EXPECT_EQ(tested.live(), 30u);
    over.count_down();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(tested.live(), 30u);
}

// A pool ends, or releases everything, at the moment when threads that used it end.
TEST(concurrent_pool_ends, threads_may_end_while_the_pool_does) {
    for (int round = 0; round < 200; ++round) {
        std::optional<concurrent_object_pool<std::string>> tested{std::in_place};
        std::latch used{3};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                for (int k = 0; k < 50; ++k) tested->destroy(tested->create("some text"));
                tested->create("a text that is too long to lie in the string itself");
                used.count_down();
            });
        }
        used.wait();
        EXPECT_EQ(tested->live(), 3u);
        if (round % 3 == 1) tested->reset();
        if (round % 3 == 2) tested->release();
        tested.reset();
        for (std::thread& each : threads) each.join();
    }
}

TEST(concurrent_pool_ends, the_pool_may_end_before_its_threads) {
    std::latch used{1};
    std::latch gone{1};
    auto tested = std::make_unique<concurrent_pool<64>>();
    std::thread user{[&] {
        for (int i = 0; i < 300; ++i) (void)tested->allocate();
        used.count_down();
        gone.wait();
        // A new pool, perhaps at the same address and with the same key.
        concurrent_pool<64> next;
        EXPECT_EQ(next.live(), 0u);
        EXPECT_TRUE(next.owns(next.allocate()));
    }};
    used.wait();
    tested.reset();
    gone.count_down();
    user.join();
}

TEST(concurrent_pool_ends, threads_that_come_and_go_leave_nothing_behind) {
    checking_upstream upstream;
    concurrent_pool<64> tested{upstream};
    std::size_t after_the_first = 0;
    for (int i = 0; i < 300; ++i) {
        std::thread{[&] {
            std::vector<void*> taken;
            for (int k = 0; k < 500; ++k) taken.push_back(tested.allocate());
            for (void* each : taken) tested.deallocate(each);
        }}.join();
        EXPECT_EQ(tested.live(), 0u);
        if (i == 0) after_the_first = upstream.requests();
    }
    EXPECT_EQ(upstream.requests(), after_the_first) << "a later thread needed more than the first";
}

// Uses the pool when its thread ends, before or after the pool detaches the thread's cache: the order of the first uses
// decides.
struct used_at_the_end {
    ~used_at_the_end() {
        if (pool == nullptr) return;
        pool->deallocate(kept);
        std::vector<void*> taken;
        for (int i = 0; i < 300; ++i) taken.push_back(pool->allocate());
        for (void* each : taken) pool->deallocate(each);
    }
    concurrent_pool<64>* pool = nullptr;
    void* kept = nullptr;
};
thread_local used_at_the_end one_end;
thread_local used_at_the_end other_end;

TEST(concurrent_pool_ends, may_be_used_while_a_thread_ends) {
    checking_upstream upstream;
    concurrent_pool<64> tested{upstream};
    for (int i = 0; i < 10; ++i) {
        std::thread{[&] {
            one_end.pool = nullptr;
            void* first = tested.allocate();
            one_end.kept = first;
            one_end.pool = &tested;
            other_end.kept = tested.allocate();
            other_end.pool = &tested;
        }}.join();
        EXPECT_EQ(tested.live(), 0u);
    }
    tested.release_unused();
    EXPECT_EQ(tested.capacity(), sizeof(acre::detail::thread_cache)) << "an ending thread took a cache of its own";
}

template <class Pool>
void allocate_and_free(Pool& pool, std::size_t count) {
    std::vector<void*> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(pool.allocate());
    for (void* each : taken) pool.deallocate(each);
}

TEST(concurrent_pool_fork, the_child_goes_on) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_pool<64> tested;
    void* of_the_parent = tested.allocate();
    const busy_threads others{3, [&] { allocate_and_free(tested, 400); }};
    for (int i = 0; i < 20; ++i) {
        const int status = in_child([&] {
            allocate_and_free(tested, 2000);
            tested.deallocate(of_the_parent);
            void* large = tested.allocate(10'000, 64);
            if (!tested.owns(large)) return 1;
            tested.deallocate(large, 10'000, 64);
            tested.release_unused();
            concurrent_pool<64> made_here;
            allocate_and_free(made_here, 1000);
            if (made_here.live() != 0) return 2;
            tested.reset();
            return tested.live() == 0 ? 0 : 3;
        });
        ASSERT_EQ(status, 0);
    }
    tested.deallocate(of_the_parent);
}

// The child does not know which slots of other threads' caches are free, so it must not destroy them as live.
// Hazard X6.
TEST(concurrent_pool_fork, the_child_destroys_nothing_that_may_not_live) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_object_pool<std::string> tested;
    const std::string text = "a text that is too long to lie in the string itself";
    std::string* of_the_parent = tested.create(text);
    const busy_threads others{2, [&] {
                                  std::vector<std::string*> made;
                                  for (int i = 0; i < 200; ++i) made.push_back(tested.create(text));
                                  for (std::string* each : made) tested.destroy(each);
                              }};
    for (int i = 0; i < 10; ++i) {
        const int status = in_child([&] {
            if (*of_the_parent != text) return 1;
            tested.destroy(of_the_parent);
            for (int k = 0; k < 1000; ++k) tested.destroy(tested.create(text));
            tested.release();
            return tested.live() == 0 && *tested.create(text) == text ? 0 : 2;
        });
        ASSERT_EQ(status, 0);
    }
}

// An upstream that uses a static pool, and first lets another thread fork. That fork takes every lock it can get, and
// waits for the lock of the pool above.
template <std::size_t Size>
class forks_meanwhile {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) { return try_allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!forks_.joinable()) {
            std::latch about_to{1};
            forks_ = std::thread{[&about_to, this] {
                about_to.count_down();
                status_ = in_child([] { return 0; });
            }};
            about_to.wait();
            std::this_thread::sleep_for(std::chrono::milliseconds{200});
        }
        // Both need its lock.
        acre::static_pool<Size>::deallocate(acre::static_pool<Size>::allocate());
        (void)acre::static_pool<Size>::live();
        return acre::heap{}.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        acre::heap{}.deallocate(p, bytes, alignment);
    }
    /// The forked child's.
    int status() {
        forks_.join();
        return status_;
    }

private:
    std::thread forks_;
    int status_ = -1;
};

template <std::size_t Size>
int use_above_a_static_pool() {
    forks_meanwhile<Size> upstream;
    concurrent_pool<64> tested{upstream};
    tested.deallocate(tested.allocate());
    return upstream.status();
}

// A static pool registers its lock while a pool above it holds its own; forks take both.
TEST(concurrent_pool_fork, above_a_static_pool_that_is_used_for_the_first_time) {
    EXPECT_EQ(in_child(use_above_a_static_pool<1400>), 0);
}

TEST(concurrent_pool_fork, above_a_static_pool_that_is_known_already) {
    EXPECT_EQ(in_child([] {
                  concurrent_pool<64> older;
                  acre::static_pool<1600>::deallocate(acre::static_pool<1600>::allocate());
                  return use_above_a_static_pool<1600>();
              }),
              0);
    // Here the pool above registered first.
    EXPECT_EQ(in_child([] {
                  forks_meanwhile<1800> upstream;
                  concurrent_pool<64> tested{upstream};
                  acre::static_pool<1800>::deallocate(acre::static_pool<1800>::allocate());
                  tested.deallocate(tested.allocate());
                  return upstream.status();
              }),
              0);
}

TEST(concurrent_pool_fork, over_a_static_pool) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_pool<3000> tested{acre::static_pool<131072>{}};
    const auto work = [&] {
        allocate_and_free(tested, 40);
        tested.release_unused();
    };
    const busy_threads others{3, work};
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(in_child([&] { return work(), 0; }), 0);
    }
    EXPECT_GE(acre::static_pool<131072>::capacity(), 131072u) << "slabs did not come from there";
}

TEST(concurrent_pool_fork, a_pool_above_another) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_pool<300'000> below;
    concurrent_pool<64> tested{below};
    const busy_threads others{3, [&] {
                                  allocate_and_free(tested, 1000);
                                  tested.release_unused();
                                  below.deallocate(below.allocate());
                              }};
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(in_child([&] {
                      allocate_and_free(tested, 2000);
                      below.deallocate(below.allocate());
                      return 0;
                  }),
                  0);
    }
}

// Pools and threads with caches come and go while forks take all locks.
TEST(concurrent_pool_fork, while_pools_and_threads_come_and_go) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    const busy_threads others{3, [] {
                                  concurrent_pool<64> pool;
                                  std::thread{[&] { allocate_and_free(pool, 200); }}.join();
                                  allocate_and_free(pool, 200);
                              }};
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(in_child([] {
                      concurrent_pool<64> pool;
                      allocate_and_free(pool, 500);
                      return pool.live() == 0 ? 0 : 1;
                  }),
                  0);
    }
}

}  // namespace
