// acre::concurrent_multi_pool: any size, across threads, at the end of a thread and of the pool, at the limit, after a
// fork.
#include <acre/pools/concurrent_multi_pool.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/core/sanitizer.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::concurrent_multi_pool;
using acre::concurrent_pool_options;
using acre_test::busy_threads;
using acre_test::checking_upstream;
using acre_test::in_child;
using acre_test::in_threads;
using acre_test::mailbox;
using acre_test::patterned_block;

TEST(concurrent_multi_pool, example) {
    acre::concurrent_multi_pool memory;
    void* p = memory.allocate(100);
    std::thread{[&] { memory.deallocate(p, 100); }}.join();
    EXPECT_EQ(memory.live(), 0u);
}

TEST(concurrent_multi_pool, takes_nothing_before_the_first_use_and_gives_all_back) {
    checking_upstream upstream;
    {
        concurrent_multi_pool tested{upstream};
        EXPECT_EQ(upstream.requests(), 0u);
        (void)tested.allocate(100);
        (void)tested.allocate(100'000);
        EXPECT_EQ(tested.live(), 2u);
        EXPECT_EQ(tested.capacity(), upstream.live_bytes());
        EXPECT_GE(tested.used(), 100'100u);
        tested.release();
        EXPECT_EQ(tested.live(), 0u);
        EXPECT_EQ(tested.capacity(), 0u);
        EXPECT_EQ(upstream.live_bytes(), 0u);
        (void)tested.allocate(5000, 4096);
        tested.reset();
        EXPECT_EQ(tested.live(), 0u);
        (void)tested.allocate(64);
    }
    EXPECT_EQ(upstream.live_bytes(), 0u);
}

TEST(concurrent_multi_pool, serves_containers) {
    concurrent_multi_pool memory;
    using entry = std::pair<const int, int>;
    std::map<int, int, std::less<>, acre::allocator<entry, concurrent_multi_pool>> numbers{memory};
    for (int i = 0; i < 1000; ++i) numbers[i] = i;
    EXPECT_EQ(memory.live(), 1000u);
    numbers.clear();
    EXPECT_EQ(memory.live(), 0u);
}

TEST(concurrent_multi_pool, a_thread_keeps_no_more_than_it_was_told) {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{1000}, std::size_t{8000}}) {
        checking_upstream upstream;
        concurrent_multi_pool tested{{.thread_bytes = 16'000}, upstream};
        std::latch freed{1};
        std::latch looked{1};
        std::thread other{[&] {
            std::vector<void*> taken;
            for (int i = 0; i < 500; ++i) taken.push_back(tested.allocate(bytes, 8));
            for (void* each : taken) tested.deallocate(each, bytes, 8);
            freed.count_down();
            looked.wait();
        }};
        freed.wait();
        tested.release_unused();
        // At worst the other thread's cached slots hold one slab each; its caches and magazines are the rest.
        const std::size_t kept_slots = std::max<std::size_t>(16'000 / bytes, 2);
        EXPECT_LE(tested.capacity(), kept_slots * acre::detail::slab_geometry::of(bytes, 8).slab_bytes + 16'000)
            << bytes;
        EXPECT_EQ(tested.live(), 0u);
        looked.count_down();
        other.join();
        tested.release_unused();
        EXPECT_LE(tested.capacity(), 2 * 4200u) << "the caches of both threads";
    }
}

TEST(concurrent_multi_pool, the_limit_is_kept) {
    checking_upstream upstream;
    concurrent_multi_pool tested{{.limit_bytes = 200'000}, upstream};
    std::vector<void*> taken;
    while (void* p = tested.try_allocate(100, 8)) taken.push_back(p);
    EXPECT_GT(taken.size(), 1000u);
    EXPECT_LE(upstream.peak_bytes(), 200'000u);
    EXPECT_EQ(tested.try_allocate(100'000, 8), nullptr);
#if defined(__cpp_exceptions)
    EXPECT_THROW((void)tested.allocate(100, 8), acre::limit_exceeded);
    EXPECT_THROW((void)tested.allocate(100'000, 8), acre::limit_exceeded);
    EXPECT_THROW((void)tested.allocate(SIZE_MAX, 8), acre::request_too_large);
    EXPECT_THROW((void)tested.allocate(8, 3), acre::bad_alignment);
    EXPECT_THROW((concurrent_multi_pool{concurrent_pool_options{.limit_bytes = 100}}), acre::bad_option);
#endif
    for (void* each : taken) tested.deallocate(each, 100, 8);
    EXPECT_EQ(tested.live(), 0u);
}

// Blocks of any size that other threads free, each filled with its owner's pattern.
class concurrent_multi_pool_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, concurrent_multi_pool_threads, testing::Values(4, 16));

// Hazard M20.
TEST_P(concurrent_multi_pool_threads, allocate_here_free_there) {
    const std::size_t threads = GetParam();
    checking_upstream upstream;
    {
        concurrent_multi_pool tested{upstream};
        std::vector<mailbox> mail(threads);
        const auto give_back = [&](const patterned_block& block) {
            EXPECT_TRUE(block.is_whole());
            tested.deallocate(block.p, block.bytes, 16);
        };
        for (int generation = 0; generation < 3; ++generation) {
            in_threads(threads, [&](std::size_t self) {
                std::mt19937 random{static_cast<unsigned>(self + 100 * static_cast<std::size_t>(generation))};
                for (int step = 0; step < 1500; ++step) {
                    const std::size_t bytes = random() % 20 == 0 ? random() % 12'000 : random() % 400;
                    const patterned_block made{tested.allocate(bytes, 16), bytes,
                                               (std::uint64_t{self} << 40) + static_cast<std::uint64_t>(step)};
                    made.fill();
                    mail[random() % threads].put(made);
                    for (const patterned_block& each : mail[self].take_all()) give_back(each);
                    if (step % 500 == 499) tested.release_unused();
                }
            });
        }
        for (mailbox& each : mail) {
            for (const patterned_block& left : each.take_all()) give_back(left);
        }
        EXPECT_EQ(tested.live(), 0u);
        EXPECT_EQ(tested.capacity(), upstream.live_bytes());
        tested.release_unused();
        EXPECT_LE(tested.capacity(), (threads + 1) * 4200) << "the caches of threads that ended";
    }
    EXPECT_EQ(upstream.live_bytes(), 0u);
}

// Hazard M21: what is asked while others go on is near the truth, and races with nobody.
TEST_P(concurrent_multi_pool_threads, questions_beside_allocations) {
    concurrent_multi_pool tested;
    std::atomic<bool> over{false};
    std::thread asks{[&] {
        while (!over) {
            EXPECT_LE(tested.live(), 200'000u) << "the count wrapped";
            EXPECT_LE(tested.used(), std::size_t{1} << 30);
            EXPECT_FALSE(tested.owns(&over));
            tested.release_unused();
        }
    }};
    acre_test::allocate_here_free_there(
        GetParam(), 700, 1000, [&] { return tested.allocate(700, 8); }, [&](void* p) { tested.deallocate(p, 700, 8); });
    over = true;
    asks.join();
    EXPECT_EQ(tested.live(), 0u);
}

TEST(concurrent_multi_pool_ends, threads_may_end_while_the_pool_does) {
    for (int round = 0; round < 100; ++round) {
        auto tested = std::make_unique<concurrent_multi_pool>();
        std::latch used{3};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                for (std::size_t k = 1; k < 200; ++k) tested->deallocate(tested->allocate(7 * k), 7 * k);
                (void)tested->allocate(100);
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

TEST(concurrent_multi_pool_ends, threads_that_come_and_go_leave_nothing_behind) {
    checking_upstream upstream;
    concurrent_multi_pool tested{upstream};
    std::size_t after_the_first = 0;
    for (int i = 0; i < 100; ++i) {
        std::thread{[&] {
            std::vector<void*> taken;
            for (std::size_t k = 0; k < 500; ++k) taken.push_back(tested.allocate(1 + k % 300));
            for (std::size_t k = 0; k < 500; ++k) tested.deallocate(taken[k], 1 + k % 300);
        }}.join();
        EXPECT_EQ(tested.live(), 0u);
        if (i == 0) after_the_first = upstream.requests();
    }
    EXPECT_EQ(upstream.requests(), after_the_first) << "a later thread needed more than the first";
}

// Uses the pool when its thread ends, before or after the pool detaches the thread's caches.
struct used_at_the_end {
    ~used_at_the_end() {
        if (pool == nullptr) return;
        for (std::size_t bytes = 1; bytes < 1000; bytes += 50) pool->deallocate(pool->allocate(bytes), bytes);
        pool->deallocate(kept, 40);
    }
    concurrent_multi_pool* pool = nullptr;
    void* kept = nullptr;
};
thread_local used_at_the_end one_end;
thread_local used_at_the_end other_end;

TEST(concurrent_multi_pool_ends, may_be_used_while_a_thread_ends) {
    concurrent_multi_pool tested;
    for (int i = 0; i < 10; ++i) {
        std::thread{[&] {
            one_end.pool = nullptr;
            void* first = tested.allocate(40);
            one_end.kept = first;
            one_end.pool = &tested;
            other_end.kept = tested.allocate(40);
            other_end.pool = &tested;
        }}.join();
        EXPECT_EQ(tested.live(), 0u);
    }
}

TEST(concurrent_multi_pool_fork, the_child_goes_on) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_multi_pool tested;
    void* of_the_parent = tested.allocate(64);
    const auto use = [&](std::size_t count) {
        std::vector<void*> taken;
        for (std::size_t i = 0; i < count; ++i) taken.push_back(tested.allocate(1 + i % 500));
        for (std::size_t i = 0; i < count; ++i) tested.deallocate(taken[i], 1 + i % 500);
    };
    const busy_threads others{3, [&] { use(400); }};
    for (int i = 0; i < 10; ++i) {
        const int status = in_child([&] {
            use(3000);
            tested.deallocate(of_the_parent, 64);
            tested.deallocate(tested.allocate(10'000, 64), 10'000, 64);
            tested.release_unused();
            concurrent_multi_pool made_here;
            made_here.deallocate(made_here.allocate(100), 100);
            if (made_here.live() != 0) return 2;
            tested.reset();
            return tested.live() == 0 ? 0 : 3;
        });
        EXPECT_EQ(status, 0);
    }
    tested.deallocate(of_the_parent, 64);
}

// Hazards M8, N3.
TEST(concurrent_multi_pool_misuse, what_is_freed_twice_or_elsewhere_is_said) {
    concurrent_multi_pool tested;
    concurrent_multi_pool other;
    void* p = tested.allocate(24, 8);
    void* q = tested.allocate(24, 8);
    EXPECT_DEATH(
        {
            tested.deallocate(p, 24, 8);
            tested.deallocate(p, 24, 8);
        },
        "double free");
    EXPECT_DEATH(
        {
            tested.deallocate(p, 24, 8);
            tested.deallocate(q, 24, 8);
            tested.deallocate(p, 24, 8);
        },
        "double free");
    EXPECT_DEATH(other.deallocate(p, 24, 8), "another resource");
    EXPECT_DEATH(tested.deallocate(p, 100, 8), "another size");
    tested.deallocate(p, 24, 8);
    tested.deallocate(q, 24, 8);
}

TEST(concurrent_multi_pool, what_is_live_at_the_end_is_reported) {
    EXPECT_EXIT(
        {
            {
                concurrent_multi_pool tested{{.report_live = true}};
                (void)tested.allocate(100);
                (void)tested.allocate(100'000);
            }
            std::exit(0);
        },
        testing::ExitedWithCode(0), "acre::concurrent_multi_pool.*2");
}

}  // namespace
