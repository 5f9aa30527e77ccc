// acre::typed_arena with `.synchronized`: no slot is handed out twice or lost.
#include <gtest/gtest.h>

#include <acre/arenas/typed_arena.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "threads/in_threads.hpp"

namespace {

using acre::typed_arena;
using acre::typed_arena_options;

constexpr typed_arena_options shared{.synchronized = true};
constexpr typed_arena_options shared_and_reusing{.reuse = true, .synchronized = true};
constexpr int thread_count = 4;

struct item {
    std::uint64_t owner;
    std::uint64_t number;
};

template <class Work>
void on_all_threads(Work work) {
    std::barrier start{thread_count};
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) {
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            work(static_cast<std::size_t>(i));
        });
    }
    for (auto& each : threads) each.join();
}

struct run {
    item* first;
    std::size_t count;
};

// The allocations of all threads in one round must fill the arena without gap or overlap.
void expect_disjoint(std::vector<run>& runs, std::size_t slots) {
    std::sort(runs.begin(), runs.end(), [](const run& a, const run& b) { return a.first < b.first; });
    std::size_t all = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        all += runs[i].count;
        if (i > 0) {
            const item* const end = runs[i - 1].first + runs[i - 1].count;
            ASSERT_LE(end, runs[i].first);
            if (!acre::poisoning) {
                ASSERT_EQ(end, runs[i].first) << "redzones lie between them in other builds";
            }
        }
    }
    EXPECT_EQ(all, slots);
}

// Threads that take steps one at a time; a seed decides which thread is next.
class chosen_steps {
public:
    chosen_steps(std::size_t threads, std::uint32_t seed) : waits_(threads), running_(threads), random_(seed) {}

    /// Runs `work(thread)` in each thread.
    template <class Work>
    void run(Work work) {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < waits_.size(); ++i) {
            threads.emplace_back([&, i] {
                current = this;
                thread_ = i;
                before_a_step();
                work(i);
                const std::lock_guard hold{lock_};
                --running_;
                choose();
            });
        }
        for (auto& each : threads) each.join();
    }

    /// Waits until it is this thread's turn.
    void before_a_step() {
        std::unique_lock hold{lock_};
        waits_[thread_] = true;
        ++waiting_;
        choose();
        turn_changed_.wait(hold, [this] { return turn_ == thread_; });
        turn_ = nobody;
        waits_[thread_] = false;
        --waiting_;
    }

    /// The number of this thread, if it takes part.
    static inline thread_local chosen_steps* current = nullptr;

private:
    static constexpr std::size_t nobody = SIZE_MAX;

    void choose() {
        if (waiting_ == 0 || waiting_ < running_) return;
        do {
            turn_ = random_() % waits_.size();
        } while (!waits_[turn_]);
        turn_changed_.notify_all();
    }

    static inline thread_local std::size_t thread_ = 0;

    std::mutex lock_;
    std::condition_variable turn_changed_;
    std::vector<bool> waits_;
    std::size_t waiting_ = 0;
    std::size_t running_;
    std::size_t turn_ = nobody;
    std::mt19937 random_;
};

// A std::atomic whose operations are steps.
class stepping_counter {
public:
    explicit stepping_counter(std::size_t value) : value_(value) {}

    std::size_t load(std::memory_order) const { return step(), value_; }
    void store(std::size_t value, std::memory_order) { step(), value_ = value; }
    std::size_t fetch_add(std::size_t more, std::memory_order) { return step(), value_ += more, value_ - more; }
    std::size_t fetch_sub(std::size_t less, std::memory_order) { return step(), value_ -= less, value_ + less; }
    bool compare_exchange_weak(std::size_t& expected, std::size_t wanted, std::memory_order order) {
        return compare_exchange_strong(expected, wanted, order);
    }
    bool compare_exchange_strong(std::size_t& expected, std::size_t wanted, std::memory_order) {
        step();
        const bool same = value_ == expected;
        (same ? value_ : expected) = same ? wanted : value_;
        return same;
    }

private:
    static void step() {
        if (chosen_steps::current != nullptr) chosen_steps::current->before_a_step();
    }

    std::size_t value_;
};

// Hazard M23 in hundreds of interleavings: a refused run that is undone by a subtraction would hand out slots twice.
TEST(typed_arena_threads, no_order_of_steps_hands_out_twice) {
    constexpr std::size_t slots = 10;
    constexpr std::size_t bytes = 4;
    for (std::uint32_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        acre::detail::shared_bump_slots<bytes, slots, stepping_counter> tested;
        std::vector<std::vector<bool>> given(thread_count, std::vector<bool>(slots));
        chosen_steps{thread_count, seed}.run([&](std::size_t thread) {
            std::minstd_rand random{seed * 10 + static_cast<std::uint32_t>(thread)};
            for (int i = 0; i < 3; ++i) {
                const std::size_t count = random() % 3 == 0 ? 1 : random() % 6 + 1;
                std::size_t offset = 0;
                if (!tested.take(count, 1, offset)) continue;
                ASSERT_LE(offset / bytes + count, slots);
                for (std::size_t k = 0; k < count; ++k) given[thread][offset / bytes + k] = true;
            }
        });
        std::size_t all = 0;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const auto owners = std::count_if(given.begin(), given.end(), [&](const auto& each) { return each[slot]; });
            EXPECT_LE(owners, 1) << "slot " << slot;
            all += static_cast<std::size_t>(owners);
        }
        EXPECT_EQ(tested.used(), all * bytes) << "a refused request took something";
    }
}

// Hazard M23: many refused requests of all lengths at the end of the arena take nothing, and slots taken meanwhile have
// one owner. The arena is small, so that its end is reached often.
// Hazard M23.
TEST(typed_arena_threads, a_refused_claim_is_undone) {
    constexpr std::size_t slots = 50;
    static typed_arena<item, slots, shared> arena;
    for (int round = 0; round < 500; ++round) {
        std::vector<std::vector<run>> given(thread_count);
        on_all_threads([&](std::size_t thread) {
            std::minstd_rand random{static_cast<std::uint32_t>(static_cast<std::size_t>(round) * 10 + thread)};
            for (int i = 0; i < 60; ++i) {
                const std::size_t count = i < 30 ? random() % 9 + 1 : 1;
                if (item* first = count == 1 ? arena.try_allocate_one() : arena.try_allocate_n(count)) {
                    given[thread].push_back({first, count});
                }
            }
        });
        EXPECT_EQ(arena.used(), arena.capacity());
        EXPECT_EQ(arena.try_allocate_one(), nullptr);
        std::vector<run> all;
        for (const auto& each : given) all.insert(all.end(), each.begin(), each.end());
        expect_disjoint(all, slots);
        if (HasFailure()) return;
        arena.reset();
        EXPECT_EQ(arena.used(), 0u);
    }
}

// Another thread frees than the one that allocated. Hazard M20 under ThreadSanitizer.
// Hazard M20.
TEST(typed_arena_threads, any_thread_frees) {
    constexpr std::size_t slots = 64;
    static typed_arena<item, slots, shared_and_reusing> arena;
    std::vector<std::vector<run>> given(thread_count);
    for (std::uint32_t round = 0; round < 30; ++round) {
        on_all_threads([&](std::size_t thread) {
            std::vector<run>& mine = given[thread];
            for (const run& each : mine) {
                for (std::size_t i = 0; i < each.count; ++i) EXPECT_EQ(each.first[i].number, i);
                arena.deallocate_n(each.first, each.count);
            }
            mine.clear();
            std::minstd_rand random{round * 10 + static_cast<std::uint32_t>(thread)};
            for (int i = 0; i < 200; ++i) {
                const std::size_t count = random() % 4 + 1;
                if (mine.size() > 3) {
                    const run freed = mine.back();
                    mine.pop_back();
                    for (std::size_t k = 0; k < freed.count; ++k) EXPECT_EQ(freed.first[k].owner, thread);
                    arena.deallocate_n(freed.first, freed.count);
                }
                item* first = arena.try_allocate_n(count);
                if (first == nullptr) continue;
                for (std::size_t k = 0; k < count; ++k) first[k] = {thread, k};
                mine.push_back({first, count});
            }
        });
        std::rotate(given.begin(), given.begin() + 1, given.end());
    }
    for (const auto& runs : given) {
        for (const run& each : runs) arena.deallocate_n(each.first, each.count);
    }
    EXPECT_EQ(arena.used(), 0u);
    EXPECT_NE(arena.try_allocate_n(slots), nullptr);
}

#if defined(__cpp_exceptions)
struct reluctant {
    reluctant(std::uint64_t owner, bool refuses) : first(owner) {
        if (refuses) throw std::runtime_error{"no"};
        second = owner;
    }
    std::uint64_t first;
    std::uint64_t second = 0;
};

// Hazard M20: a constructor writes into its slot and throws; another thread gets the slot next.
TEST(typed_arena_threads, a_slot_of_a_throwing_constructor_is_handed_over) {
    constexpr std::size_t slots = 4000;
    static typed_arena<reluctant, slots, shared> arena;
    for (int round = 0; round < 5; ++round) {
        std::vector<std::vector<reluctant*>> made(thread_count);
        on_all_threads([&](std::size_t thread) {
            for (std::size_t i = 0; i < 1000; ++i) {
                try {
                    made[thread].push_back(arena.create(thread, i % 2 == 0));
                } catch (const std::runtime_error&) {
                    if (i % 64 == 0) std::this_thread::yield();
                }
            }
        });
        for (std::size_t thread = 0; thread < thread_count; ++thread) {
            for (const reluctant* each : made[thread]) EXPECT_TRUE(each->first == thread && each->second == thread);
        }
        arena.reset();
    }
}
#endif

// Hazards N14, X7: the shared counter has no cache line in common with objects.
TEST(typed_arena_threads, the_counter_has_a_cache_line_of_its_own) {
    static_assert(acre::poisoning || sizeof(typed_arena<item, 4, shared>) == 128);
    static_assert(alignof(typed_arena<item, 4, shared>) == 64);
}

// Hazard Y9. The other thread holds the lock for long: it looks for two neighbours where every other slot is free.
TEST(typed_arena_threads, the_child_of_a_fork_goes_on) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    constexpr std::size_t slots = 1'000'000;
    static constinit typed_arena<int, slots, shared_and_reusing> arena;
    int* all = arena.allocate_n(slots);
    for (std::size_t i = 0; i < slots; i += 2) arena.deallocate_one(all + i);
    const acre_test::busy_threads others{1, [] {
                                             EXPECT_EQ(arena.try_allocate_n(2), nullptr);
                                             std::this_thread::sleep_for(std::chrono::microseconds{50});
                                         }};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(acre_test::in_child([] { return arena.try_allocate_one() == nullptr ? 1 : 0; }), 0);
        std::this_thread::sleep_for(std::chrono::microseconds{300});
    }
}

// Hazard Y9: as above, before any lock of the library was taken, and with an arena that ends.
TEST(typed_arena_threads, arenas_that_ended_are_no_burden_to_a_fork) {
    for (int i = 0; i < 2; ++i) {
        const auto arena = std::make_unique<typed_arena<item, 10, shared_and_reusing>>();
        arena->deallocate_one(arena->allocate_one());
    }
    EXPECT_EQ(acre_test::in_child([] { return 0; }), 0);
}

// Y23. The report waited for the lock, which the thread held.
TEST(typed_arena_death, a_handler_may_allocate_from_a_synchronized_arena) {
    static typed_arena<item, 100, shared_and_reusing> arena;
    item* const freed = arena.allocate_one();
    arena.deallocate_one(freed);
    const auto freed_again = [&] {
        acre::set_misuse_handler([](const acre::misuse&) { std::_Exit(arena.allocate_one() != nullptr ? 42 : 1); });
        arena.deallocate_one(freed);
    };
    EXPECT_EXIT(freed_again(), testing::ExitedWithCode(42), "");
}

}  // namespace
