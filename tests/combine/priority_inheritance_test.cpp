// priority_inheritance_mutex: mutual exclusion, and an urgent thread does not wait for one of middle priority.
#include <acre/core/locks.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <acre/combine/synchronized.hpp>
#include <acre/pools/pool.hpp>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using acre::priority_inheritance_mutex;

TEST(priority_inheritance_mutex, example) {
    acre::synchronized<acre::pool<64>, acre::priority_inheritance_mutex> slots;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            std::vector<void*> taken;
            for (int i = 0; i < 2000; ++i) taken.push_back(slots.allocate());
            for (void* each : taken) slots.deallocate(each);
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(slots.live(), 0u);
}

TEST(priority_inheritance_mutex, tries_and_excludes) {
    priority_inheritance_mutex lock;
    long shared = 0;
    const auto add = [&] {
        for (int i = 0; i < 20'000; ++i) {
            const std::lock_guard guard{lock};
            ++shared;
        }
    };
    std::thread other{add};
    add();
    other.join();
    EXPECT_EQ(shared, 40'000);
    const std::lock_guard guard{lock};
    std::thread{[&] { EXPECT_FALSE(lock.try_lock()); }}.join();
}

// On one processor, a thread of low priority holds the lock, one of middle priority runs in a loop, and an urgent one
// waits. Without inheritance the holder does not run, and the urgent one waits until the loop ends.
TEST(priority_inheritance_mutex, an_urgent_thread_does_not_wait_for_one_of_middle_priority) {
    const auto run_at = [](int priority) {
        sched_param wanted{};
        wanted.sched_priority = priority;
        return pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0;
    };
    const auto stay_on_one_processor = [] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
    };
    bool allowed = false;
    std::thread{[&] { allowed = run_at(2) && stay_on_one_processor(); }}.join();
    if (!allowed) GTEST_SKIP() << "this user may not ask for real-time priorities";

    priority_inheritance_mutex lock;
    std::atomic<bool> held{false};
    std::atomic<bool> urgent_waits{false};
    std::atomic<bool> urgent_had_it{false};
    std::atomic<bool> in_time{false};
    std::thread low{[&] {
        ASSERT_TRUE(run_at(2) && stay_on_one_processor());
        const std::lock_guard guard{lock};
        held = true;
        // Holds the lock until the middle thread is about to preempt this one.
        while (!urgent_waits) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(20ms);
    }};
    while (!held) std::this_thread::sleep_for(1ms);
    std::thread middle{[&] {
        ASSERT_TRUE(run_at(3) && stay_on_one_processor());
        while (!urgent_waits) std::this_thread::sleep_for(1ms);
        const auto end = std::chrono::steady_clock::now() + 2s;
        while (!urgent_had_it && std::chrono::steady_clock::now() < end) {
        }
        in_time = urgent_had_it.load();
    }};
    std::thread urgent{[&] {
        ASSERT_TRUE(run_at(4) && stay_on_one_processor());
        urgent_waits = true;
        const std::lock_guard guard{lock};
        urgent_had_it = true;
    }};
    low.join();
    middle.join();
    urgent.join();
    EXPECT_TRUE(in_time) << "the thread of middle priority ended first";
}

}  // namespace
