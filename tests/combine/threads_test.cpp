// Synchronized resources in several threads, also under ThreadSanitizer.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "threads/in_threads.hpp"

namespace {

using acre::synchronized;

constexpr int thread_count = 4;
constexpr int rounds = 20'000;

void in_threads(auto work) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < thread_count; ++thread) threads.emplace_back([=, &work] { work(thread); });
    for (std::thread& each : threads) each.join();
}

// Allocates, writes, checks and frees blocks with a pattern of this thread, up to 16 of them live.
template <class R>
void allocate_write_free(R& tested, int thread, std::size_t max_bytes) {
    struct block {
        std::byte* p;
        std::size_t bytes;
    };
    std::vector<block> live;
    std::minstd_rand random{static_cast<unsigned>(thread) + 1};
    const auto pattern = static_cast<std::byte>(thread + 1);
    const auto give_back = [&](block each) {
        bool whole = true;
        for (std::size_t i = 0; i < each.bytes; ++i) whole &= each.p[i] == pattern;
        EXPECT_TRUE(whole) << "another thread wrote here";
        tested.deallocate(each.p, each.bytes, 8);
    };
    for (int round = 0; round < rounds; ++round) {
        const std::size_t bytes = 1 + random() % max_bytes;
        auto* p = static_cast<std::byte*>(tested.try_allocate(bytes, 8));
        if (p != nullptr) {
            std::memset(p, static_cast<int>(pattern), bytes);
            live.push_back({p, bytes});
        }
        if (live.empty() || (live.size() < 16 && random() % 2 == 0)) continue;
        std::swap(live[random() % live.size()], live.back());
        give_back(live.back());
        live.pop_back();
    }
    for (const block& each : live) give_back(each);
}

template <class Lock>
class synchronized_by : public testing::Test {};
using locks = testing::Types<std::mutex, acre::spin_lock>;
TYPED_TEST_SUITE(synchronized_by, locks);

// Hazard M20: a thread reuses storage that another freed, without a race.
TYPED_TEST(synchronized_by, threads_allocate_write_and_free) {
    synchronized<acre::multi_pool, TypeParam> sizes;
    in_threads([&](int thread) { allocate_write_free(sizes, thread, 500); });
    EXPECT_EQ(sizes.live(), 0u);
    synchronized<acre::pool<64>, TypeParam> slots;
    in_threads([&](int thread) { allocate_write_free(slots, thread, 64); });
    EXPECT_EQ(slots.live(), 0u);
}

// Hazard M20.
TYPED_TEST(synchronized_by, what_one_thread_allocates_another_frees) {
    synchronized<acre::object_pool<std::uint64_t>, TypeParam> objects;
    std::atomic<std::uint64_t*> slot = nullptr;
    std::uint64_t sum = 0;
    std::thread consumer{[&] {
        for (std::uint64_t received = 0; received < rounds;) {
            std::uint64_t* object = slot.exchange(nullptr, std::memory_order_acquire);
            if (object == nullptr) {
                std::this_thread::yield();
                continue;
            }
            sum += *object;
            objects.destroy(object);
            ++received;
        }
    }};
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        std::uint64_t* object = objects.create(i);
        std::uint64_t* expected = nullptr;
        while (!slot.compare_exchange_weak(expected, object, std::memory_order_release, std::memory_order_relaxed)) {
            expected = nullptr;
            std::this_thread::yield();
        }
    }
    consumer.join();
    EXPECT_EQ(sum, std::uint64_t{rounds} * (rounds + 1) / 2);
    EXPECT_EQ(objects.live(), 0u);
}

TYPED_TEST(synchronized_by, arenas_are_filled_by_all_threads) {
    synchronized<acre::arena, TypeParam> level;
    in_threads([&](int thread) {
        for (int i = 0; i < 2'000; ++i) {
            EXPECT_EQ(level.format("%d of %d", i, thread).back(), static_cast<char>('0' + thread));
        }
    });
    EXPECT_GE(level.used(), std::size_t{4} * 2'000 * 8);
    level.reset();
}

constexpr acre::statistics_options everything{.live_map = true, .histogram = true, .scopes = true};

// Hazard M21: getters during allocations of other threads.
template <class R>
void getters_beside_allocations() {
    R tested;
    std::atomic<bool> done = false;
    std::thread reader{[&] {
        // At least once, in any schedule.
        do {
            const acre::statistics_counts counts = tested.counts();
            EXPECT_LE(counts.allocations.value, counts.allocations.peak);
            EXPECT_LE(counts.allocations.peak, counts.allocations.total);
            EXPECT_FALSE(tested.report().empty());
            EXPECT_LE(tested.live_allocations().size(), 100u);
            EXPECT_LE(tested.live_by_address().size(), 100u);
            EXPECT_LE(tested.live_sizes().count(), 100u);
            const acre::size_histogram requested = tested.requested_sizes();
            EXPECT_LE(requested.sizes().size(), 200u);
            EXPECT_LE(requested.percentile(0.5), requested.percentile(1));
            EXPECT_LE(requested.mean(), 200.0);
            EXPECT_LE(requested.standard_deviation(), 200.0);
            (void)tested.live();
            (void)tested.used();
            (void)tested.owns(&done);
        } while (!done);
    }};
    in_threads([&](int thread) { allocate_write_free(tested, thread, 200); });
    done = true;
    reader.join();
    EXPECT_EQ(tested.counts().allocations.total, std::uint64_t{thread_count} * rounds);
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_TRUE(tested.live_allocations().empty());
    EXPECT_EQ(tested.unrecorded(), 0u);
}

// Hazard M21.
TEST(threads, getters_beside_allocations) {
    getters_beside_allocations<synchronized<acre::statistics<acre::multi_pool, everything>>>();
    getters_beside_allocations<synchronized<acre::statistics<acre::multi_pool, everything>, acre::spin_lock>>();
}

TEST(threads, a_limit_holds_for_all_threads_together) {
    synchronized<acre::limited<acre::multi_pool>> tested{{.limit_bytes = 4'000}};
    in_threads([&](int thread) { allocate_write_free(tested, thread, 500); });
    EXPECT_LE(tested.peak_bytes(), 4'000u);
    EXPECT_GT(tested.peak_bytes(), 2'000u);
    EXPECT_EQ(tested.live_bytes(), 0u);
    EXPECT_EQ(tested.live_count(), 0u);
}

TEST(threads, parts_that_are_synchronized_need_no_other_lock) {
    acre::segregate<128, synchronized<acre::pool<128>, acre::spin_lock>, synchronized<acre::multi_pool>> by_size;
    in_threads([&](int thread) { allocate_write_free(by_size, thread, 400); });
    EXPECT_EQ(by_size.live(), 0u);
    acre::fallback<synchronized<acre::inline_buffer<4096>>, synchronized<acre::multi_pool>> in_turn;
    in_threads([&](int thread) { allocate_write_free(in_turn, thread, 400); });
    EXPECT_EQ(in_turn.used(), 0u);
}

TEST(threads, with_sees_a_pool_that_nobody_changes) {
    synchronized<acre::object_pool<int>> tested;
    in_threads([&](int thread) {
        for (int i = 0; i < 500; ++i) {
            int* object = tested.create(thread);
            const bool consistent = tested.with([](acre::object_pool<int>& all) {
                std::size_t count = 0;
                for ([[maybe_unused]] const int& each : all) ++count;
                return count == all.live();
            });
            EXPECT_TRUE(consistent);
            tested.destroy(object);
        }
    });
}

template <class Lock>
class synchronized_fork : public testing::Test {};
using locks_that_threads_share =
    testing::Types<std::mutex, std::recursive_mutex, acre::spin_lock, acre::priority_inheritance_mutex>;
TYPED_TEST_SUITE(synchronized_fork, locks_that_threads_share);

// Allocates in children of this process, while other threads are inside most of the time.
template <class R>
void expect_children_go_on(R& tested) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    using std::chrono::microseconds;
    // It sleeps outside, too: the locks are not fair.
    const acre_test::busy_threads others{1, [&] {
                                             tested.with([](acre::arena& inside) {
                                                 (void)inside.allocate(16);
                                                 std::this_thread::sleep_for(microseconds{2000});
                                             });
                                             std::this_thread::sleep_for(microseconds{200});
                                         }};
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(microseconds{1000});
        EXPECT_EQ(acre_test::in_child([&] {
                      for (int k = 0; k < 10; ++k) std::memset(tested.allocate(100), 1, 100);
                      return 0;
                  }),
                  0);
        (void)tested.allocate(100);
    }
}

// Hazard Y9.
TYPED_TEST(synchronized_fork, while_another_thread_holds_the_lock) {
    synchronized<acre::arena, TypeParam> tested;
    expect_children_go_on(tested);
}

constinit synchronized<acre::arena> ready_before_any_code;

// Hazard Y9.
TEST(synchronized_fork_of_a_constant_initialised_one, while_another_thread_holds_the_lock) {
    expect_children_go_on(ready_before_any_code);
}

// The fork would wait for the lock that its own thread holds.
TEST(synchronized_fork_in_a_function_under_the_lock, ends_with_a_sentence) {
    const char* sentence = "acre::synchronized: forked in a function that runs under the lock";
    struct forking {
        forking() { (void)fork(); }
    };
    acre::synchronized<acre::multi_pool> pool;
    EXPECT_DEATH(pool.with([](acre::multi_pool&) { (void)fork(); }), sentence);
    acre::synchronized<acre::object_pool<forking>, acre::spin_lock> objects;
    EXPECT_DEATH((void)objects.create(), sentence);
    acre::synchronized<acre::multi_pool, acre::no_lock> alone;
    const pid_t child = alone.with([](acre::multi_pool&) {
        const pid_t forked = fork();
        if (forked == 0) _exit(0);
        return forked;
    });
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

// Each is taken off the list of what a fork locks, in any order.
TEST(synchronized_fork_of_several, that_end_in_any_order) {
    for (int ended = 0; ended < 3; ++ended) {
        std::vector<std::unique_ptr<synchronized<acre::arena>>> several(3);
        for (auto& each : several) each = std::make_unique<synchronized<acre::arena>>();
        several[static_cast<std::size_t>(ended)].reset();
        EXPECT_EQ(acre_test::in_child([&] {
                      for (auto& each : several) {
                          if (each != nullptr && each->try_allocate(8) == nullptr) return 1;
                      }
                      return 0;
                  }),
                  0);
    }
}

}  // namespace
