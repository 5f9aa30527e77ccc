// Locks: mutual exclusion, and waiting threads sleep.
#include <acre/core/locks.hpp>

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constinit acre::spin_lock ready_at_once;
static_assert(sizeof(acre::spin_lock) == 4);
static_assert(std::is_empty_v<acre::no_lock>);

double seconds_of_this_thread() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

TEST(spin_lock, excludes) {
    acre::spin_lock lock;
    long shared = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) {
                const std::lock_guard guard{lock};
                ++shared;
            }
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(shared, 80'000);
}

TEST(spin_lock, tries) {
    const std::lock_guard guard{ready_at_once};
    EXPECT_FALSE(ready_at_once.try_lock());
}

TEST(spin_lock, wakes_all_who_wait) {
    acre::spin_lock lock;
    std::atomic<int> entered = 0;
    std::vector<std::thread> threads;
    lock.lock();
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            const std::lock_guard guard{lock};
            ++entered;
        });
    }
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(entered, 0);
    lock.unlock();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(entered, 4);
}

// Hazard X12: an unbounded spin would use CPU time for as long as the lock is held.
TEST(spin_lock, a_waiting_thread_sleeps) {
    acre::spin_lock lock;
    double spent = 1;
    lock.lock();
    std::thread waiting{[&] {
        const double before = seconds_of_this_thread();
        const std::lock_guard guard{lock};
        spent = seconds_of_this_thread() - before;
    }};
    std::this_thread::sleep_for(400ms);
    lock.unlock();
    waiting.join();
    EXPECT_LT(spent, 0.1);
}

// Hazard N13: the type says whether to lock.
TEST(no_lock, locks_nothing) {
    acre::no_lock lock;
    const std::lock_guard guard{lock};
    EXPECT_TRUE(lock.try_lock());
}

}  // namespace
