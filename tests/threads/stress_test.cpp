// Every concurrent resource under 16 threads: remote frees, threads and resources that begin and end, thread exit,
// forks. Each block is filled with a pattern of its owner, which the freeing thread verifies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/refusal.hpp"
#include "threads/in_threads.hpp"
#include "threads/subjects.hpp"

namespace {

using acre_test::busy_threads;
using acre_test::in_child;
using acre_test::in_threads;
using acre_test::patterned_block;

constexpr std::size_t thread_count = 16;
// Fewer rounds under a sanitizer, which is slow but finds an error at its first occurrence, and under an emulator.
#if defined(ACRE_TEST_EMULATED)
constexpr std::size_t patience = 1;
#else
constexpr std::size_t patience = acre_test::sanitized ? 1 : 2;
#endif

// Blocks of random sizes with the patterns of one owner.
class worker {
public:
    explicit worker(std::size_t owner) : owner_(owner), random_(static_cast<unsigned>(owner) + 1) {}

    template <class Subject>
    patterned_block make(Subject& from) {
        constexpr std::size_t largest = Subject::traits.largest;
        const std::size_t usual = std::min<std::size_t>(largest, 150);
        const std::size_t bytes = 1 + random_() % (random_() % 32 == 0 ? largest : usual);
        patterned_block made{from.allocate(bytes), bytes, (owner_ + 1) << 40 | sequence_++};
        EXPECT_NE(made.p, nullptr);
        if (made.p == nullptr) made.bytes = 0;
        made.fill();
        return made;
    }

    std::size_t any_of(std::size_t count) { return random_() % count; }

private:
    std::uint64_t owner_;
    std::uint64_t sequence_ = 0;
    std::minstd_rand random_;
};

template <class Subject>
void give_back(Subject& to, const patterned_block& block) {
    EXPECT_TRUE(block.is_whole()) << "another thread wrote here";
    to.deallocate(block.p, block.bytes);
}

template <class Subject>
void give_back_all(Subject& to, std::vector<patterned_block>& blocks) {
    for (const patterned_block& each : blocks) give_back(to, each);
    blocks.clear();
}

// Allocates `count` blocks, then frees them.
template <class Subject>
void make_and_give_back(Subject& tested, worker& self, std::size_t count) {
    std::vector<patterned_block> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(self.make(tested));
    give_back_all(tested, made);
}

// A small lock-free queue from one sender to one receiver.
class alignas(64) bounded_mailbox {
public:
    bool try_put(const patterned_block& sent) {
        const std::size_t end = end_.load(std::memory_order_relaxed);
        // Acquire: the receiver has read the cell that is overwritten next.
        if (end - first_.load(std::memory_order_acquire) == cells_.size()) return false;
        cells_[end % cells_.size()] = sent;
        // Release: the cell and the block's contents.
        end_.store(end + 1, std::memory_order_release);
        return true;
    }
    bool try_take(patterned_block& received) {
        const std::size_t first = first_.load(std::memory_order_relaxed);
        if (first == end_.load(std::memory_order_acquire)) return false;
        received = cells_[first % cells_.size()];
        first_.store(first + 1, std::memory_order_release);
        return true;
    }

private:
    std::array<patterned_block, 8> cells_{};
    std::atomic<std::size_t> first_{0};  // written by the receiver
    std::atomic<std::size_t> end_{0};    // written by the sender
};

template <class Subject>
class shared_resources : public testing::Test {};
TYPED_TEST_SUITE(shared_resources, acre_test::shared_subjects);

// Hazard M20 under ThreadSanitizer.
TYPED_TEST(shared_resources, allocated_here_and_freed_there_round_a_ring) {
    constexpr std::size_t rounds = 2000 * patience;
    TypeParam tested;
    std::array<bounded_mailbox, thread_count> mail;
    in_threads(thread_count, [&](std::size_t number) {
        worker self{number};
        bounded_mailbox& next = mail[(number + 1) % thread_count];
        patterned_block made = self.make(tested);
        patterned_block received{};
        for (std::size_t sent = 0, taken = 0; sent < rounds || taken < rounds;) {
            const std::size_t before = sent + taken;
            if (sent < rounds && next.try_put(made) && ++sent < rounds) made = self.make(tested);
            for (; mail[number].try_take(received); ++taken) give_back(tested, received);
            if (sent + taken == before) std::this_thread::yield();
        }
    });
    tested.expect_rest_after(thread_count + 1);
}

// As in servers and the benchmark Larson: each thread inherits the blocks of an ended one.
// Hazard M20.
TYPED_TEST(shared_resources, threads_inherit_blocks_of_ended_ones) {
    constexpr std::size_t generations = 8 * patience;
    constexpr std::size_t steps = 250;
    TypeParam tested;
    std::mutex lock;
    std::array<std::vector<patterned_block>, thread_count> left;
    const auto live_and_end = [&](worker self) {
        std::vector<patterned_block> mine;
        const auto exchange = [&] {
            const std::lock_guard hold{lock};
            mine.swap(left[self.any_of(thread_count)]);
        };
        exchange();
        while (mine.size() < 40) mine.push_back(self.make(tested));
        for (std::size_t step = 0; step < steps; ++step) {
            patterned_block& replaced = mine[self.any_of(mine.size())];
            give_back(tested, replaced);
            replaced = self.make(tested);
        }
        exchange();
        // The inherited blocks now belong to this thread.
        give_back_all(tested, mine);
    };
    in_threads(thread_count, [&](std::size_t chain) {
        for (std::size_t i = 0; i < generations; ++i) {
            std::thread{live_and_end, worker{chain * generations + i}}.join();
        }
    });
    for (std::vector<patterned_block>& each : left) give_back_all(tested, each);
    tested.expect_rest_after(thread_count + 1);
}

// Threads alternate between several resources, one of which is sometimes destroyed and made anew at the same address.
TYPED_TEST(shared_resources, several_in_one_thread_that_come_and_go) {
    constexpr std::size_t rounds = 12 * patience;
    std::array<std::optional<TypeParam>, 3> tested;
    for (std::optional<TypeParam>& each : tested) each.emplace();
    std::size_t ended = 0;
    std::barrier everyone{static_cast<std::ptrdiff_t>(thread_count),
                          [&]() noexcept { tested[ended++ % tested.size()].emplace(); }};
    in_threads(thread_count, [&](std::size_t number) {
        worker self{number};
        std::optional<TypeParam> own;
        std::vector<std::pair<TypeParam*, patterned_block>> made;
        for (std::size_t round = 0; round < rounds; ++round) {
            own.emplace();
            for (std::size_t i = 0; i < 60; ++i) {
                const std::size_t which = i % (tested.size() + 1);
                TypeParam& from = which == tested.size() ? *own : *tested[which];
                made.emplace_back(&from, self.make(from));
                if (i % 3 != 2) continue;
                std::swap(made[self.any_of(made.size())], made.back());
                give_back(*made.back().first, made.back().second);
                made.pop_back();
            }
            for (const auto& [to, block] : made) give_back(*to, block);
            made.clear();
            everyone.arrive_and_wait();
        }
    });
    for (std::optional<TypeParam>& each : tested) each->expect_rest_after(thread_count + 1);
}

// At the end of its thread it frees the thread's blocks and allocates again.
template <class Subject>
struct used_at_the_end {
    used_at_the_end() = default;
    used_at_the_end(const used_at_the_end&) = delete;
    used_at_the_end& operator=(const used_at_the_end&) = delete;
    ~used_at_the_end() {
        if (tested == nullptr) return;
        give_back_all(*tested, kept);
        make_and_give_back(*tested, self, 40);
    }
    void keep(Subject& from, std::size_t owner) {
        self = worker{owner};
        tested = &from;
        for (int i = 0; i < 40; ++i) kept.push_back(self.make(from));
    }
    Subject* tested = nullptr;
    worker self{0};
    std::vector<patterned_block> kept;
};

// The thread's state in the resource is created between the two objects, so one object is destroyed before it and the
// other after it.
// Hazard N5.
TYPED_TEST(shared_resources, may_be_used_before_and_after_they_left_a_thread) {
    TypeParam tested;
    for (std::size_t generation = 0; generation < 4 * patience; ++generation) {
        in_threads(thread_count, [&](std::size_t number) {
            thread_local used_at_the_end<TypeParam> ends_last;
            ends_last.tested = nullptr;
            worker self{number};
            make_and_give_back(tested, self, 10);
            ends_last.keep(tested, number);
            thread_local used_at_the_end<TypeParam> ends_first;
            ends_first.keep(tested, number + thread_count);
        });
    }
    tested.expect_rest_after(thread_count + 1);
}

template <class Subject>
class forking_resources : public testing::Test {};
TYPED_TEST_SUITE(forking_resources, acre_test::forking_subjects);

TYPED_TEST(forking_resources, the_child_goes_on_while_others_are_busy) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    TypeParam tested;
    std::atomic<std::size_t> numbers{1};
    worker self{0};
    std::vector<patterned_block> of_the_parent;
    for (int i = 0; i < 100; ++i) of_the_parent.push_back(self.make(tested));
    {
        const busy_threads others{thread_count, [&] {
                                      worker other{numbers++};
                                      make_and_give_back(tested, other, 20);
                                      std::this_thread::yield();
                                  }};
        for (std::size_t i = 0; i < 8 * patience; ++i) {
            EXPECT_EQ(in_child([&] {
                          make_and_give_back(tested, self, 300);
                          give_back_all(tested, of_the_parent);
                          TypeParam made_here;
                          make_and_give_back(made_here, self, 300);
                          return testing::Test::HasFailure() ? 1 : 0;
                      }),
                      0);
        }
    }
    give_back_all(tested, of_the_parent);
    tested.expect_rest_after(thread_count + 1);
}

template <class Subject>
class releasing_resources : public testing::Test {};
TYPED_TEST_SUITE(releasing_resources, acre_test::releasing_subjects);

TYPED_TEST(releasing_resources, unused_memory_goes_back_while_others_run) {
    TypeParam tested;
    const auto release = [&] {
        tested.release_unused();
        std::this_thread::yield();
    };
    {
        const busy_threads others{2, release};
        in_threads(thread_count - 2, [&](std::size_t number) {
            worker self{number};
            std::vector<patterned_block> kept;
            for (std::size_t round = 0; round < 12 * patience; ++round) {
                make_and_give_back(tested, self, 100);
                kept.push_back(self.make(tested));
                if (round % 4 == number % 4) release();
            }
            give_back_all(tested, kept);
        });
    }
    tested.expect_rest_after(thread_count + 1);
}

}  // namespace
