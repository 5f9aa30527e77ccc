// acre::detail::remote_free_set: each inserted number is collected exactly once, however the threads interleave.
#include <acre/pools/detail/remote_free_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "threads/in_threads.hpp"

namespace {

// Simulates a thread that is stopped before one of its steps while other threads run.
class stopped {
public:
    /// Runs `work` and, before its step number `step`, `meanwhile`. False when `work` has fewer steps.
    static bool at(std::size_t step, const std::function<void()>& work, std::function<void()> meanwhile) {
        stopped inner{step, std::move(meanwhile)};
        stopped* outer = std::exchange(current_, &inner);
        work();
        current_ = outer;
        return inner.meanwhile_ == nullptr;
    }
    /// Number of steps of `work`.
    static std::size_t steps_of(const std::function<void()>& work) {
        stopped counts{SIZE_MAX, [] {}};
        stopped* outer = std::exchange(current_, &counts);
        work();
        current_ = outer;
        return counts.steps_;
    }
    static void before_a_step() {
        if (current_ == nullptr || current_->steps_++ != current_->step_) return;
        stopped* here = std::exchange(current_, nullptr);
        std::exchange(here->meanwhile_, nullptr)();
        current_ = here;
    }

private:
    stopped(std::size_t step, std::function<void()> meanwhile) : step_(step), meanwhile_(std::move(meanwhile)) {}

    static inline stopped* current_ = nullptr;
    std::size_t step_;
    std::size_t steps_ = 0;
    std::function<void()> meanwhile_;
};

// A std::atomic that counts each operation as a step.
template <class T>
class stepping {
public:
    explicit stepping(T value) : value_(value) {}
    T load(std::memory_order) const { return stopped::before_a_step(), value_; }
    T exchange(T value, std::memory_order) { return stopped::before_a_step(), std::exchange(value_, value); }
    T fetch_or(T bits, std::memory_order) { return stopped::before_a_step(), std::exchange(value_, value_ | bits); }
    T fetch_and(T bits, std::memory_order) { return stopped::before_a_step(), std::exchange(value_, value_ & bits); }

private:
    T value_;
};

// A set with the storage of its words.
template <template <class> class Atomic>
class stored {
public:
    using set = acre::detail::remote_free_set<Atomic>;
    explicit stored(std::size_t slots) : words_(set::words(slots)), set_(words_.data(), slots) {}
    set& operator*() noexcept { return set_; }
    set* operator->() noexcept { return &set_; }

    /// Adds the result of one collect to `found`; false when it found nothing. No number may be found twice.
    bool collect_to(std::set<std::size_t>& found) {
        std::size_t word = 0;
        std::uint64_t bits = 0;
        if (!set_.collect(word, bits)) return false;
        EXPECT_NE(bits, 0u);
        for (std::size_t bit = 0; bit < 64; ++bit) {
            if ((bits >> bit & 1) != 0) {
                EXPECT_TRUE(found.insert(word * 64 + bit).second) << "found twice";
            }
        }
        return true;
    }
    std::set<std::size_t> collect_all() {
        std::set<std::size_t> found;
        while (collect_to(found)) {
        }
        return found;
    }

private:
    struct alignas(typename set::word_type) raw_word {
        std::byte bytes[sizeof(typename set::word_type)];
    };
    std::vector<raw_word> words_;
    set set_;
};

TEST(remote_free_set, matches_a_model_of_every_size) {
    for (const std::size_t slots : {1u, 2u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 10'000u, 262'144u, 262'145u}) {
        SCOPED_TRACE(slots);
        stored<std::atomic> tested{slots};
        std::minstd_rand random{static_cast<unsigned>(slots)};
        std::set<std::size_t> inside;
        for (int round = 0; round < 300; ++round) {
            for (std::size_t inserted = random() % 10; inserted > 0; --inserted) {
                const std::size_t slot =
                    random() % 3 == 0 ? slots - 1 - random() % std::min<std::size_t>(slots, 70) : random() % slots;
                EXPECT_EQ(tested->insert(slot), inside.insert(slot).second) << slot;
            }
            std::set<std::size_t> found;
            const bool any = tested.collect_to(found);
            EXPECT_EQ(any, !inside.empty());
            if (!any) continue;
            const auto same_word = [&](std::size_t slot) { return slot / 64 == *found.begin() / 64; };
            EXPECT_EQ(*found.begin(), *inside.begin()) << "not the lowest";
            EXPECT_EQ(found.size(), static_cast<std::size_t>(std::count_if(inside.begin(), inside.end(), same_word)));
            std::erase_if(inside, same_word);
        }
        EXPECT_EQ(tested.collect_all(), inside);
        EXPECT_EQ(tested.collect_all(), std::set<std::size_t>{});
    }
}

TEST(remote_free_set, words_are_counted) {
    using set = acre::detail::remote_free_set<>;
    static_assert(set::words(1) == 1 && set::words(64) == 1 && set::words(65) == 2 + 1);
    static_assert(set::words(4096) == 64 + 1 && set::words(4097) == 65 + 2 + 1);
    static_assert(set::words(262'145) == 4097 + 65 + 2 + 1);
    static_assert(set::words(set::max_slots) == 262'144 + 4096 + 64 + 1);
    stored<std::atomic> largest{set::max_slots};
    EXPECT_TRUE(largest->insert(set::max_slots - 1));
    EXPECT_FALSE(largest->insert(set::max_slots - 1));
    EXPECT_EQ(largest.collect_all(), std::set<std::size_t>{set::max_slots - 1});
}

// Hazard X15: with three levels an insert is a step and two a level above; a collect two steps a level, one a level
// above the leaves to see that nothing came meanwhile, and the exchange. Hazard X15.
TEST(remote_free_set, no_operation_takes_more_than_its_steps) {
    constexpr std::size_t slots = 10'000;
    stored<stepping> tested{slots};
    std::set<std::size_t> inside;
    std::minstd_rand random{1};
    std::size_t longest_insert = 0;
    std::size_t longest_collect = 0;
    for (int round = 0; round < 20'000; ++round) {
        if (random() % 3 != 0) {
            const std::size_t slot = random() % (round % 5000 < 100 ? slots : 200);
            longest_insert = std::max(longest_insert, stopped::steps_of([&] { (void)tested->insert(slot); }));
        } else {
            inside.clear();
            longest_collect = std::max(longest_collect, stopped::steps_of([&] { tested.collect_to(inside); }));
        }
    }
    EXPECT_LE(longest_insert, 1u + 2 * 2);
    EXPECT_LE(longest_collect, 2u + 4 + 1);
}

// Slots in the same word, in another word below the same summary word, and below another summary word.
constexpr std::size_t many = 10'000;
constexpr std::size_t places[] = {5, 7, 70, 5000, 9999};

// Hazard M20, a vacancy missed for ever: a thread that was stopped anywhere in an insert hides nothing of what another
// one inserted. Hazard M20.
TEST(remote_free_set, a_stopped_insert_hides_no_other) {
    for (const std::size_t first : places) {
        for (const std::size_t other : places) {
            for (const std::size_t before : places) {
                if (first == other || before == first || before == other) continue;
                bool was_stopped = true;
                for (std::size_t step = 0; was_stopped && !HasFailure(); ++step) {
                    SCOPED_TRACE(testing::Message() << first << ", " << other << ", " << before << ", step " << step);
                    stored<stepping> tested{many};
                    EXPECT_TRUE(tested->insert(before));
                    std::set<std::size_t> found;
                    was_stopped = stopped::at(
                        step, [&] { EXPECT_TRUE(tested->insert(first)); },
                        [&] {
                            EXPECT_TRUE(tested->insert(other));
                            while (tested.collect_to(found)) {
                            }
                            EXPECT_TRUE(found.contains(other)) << "hidden";
                            EXPECT_TRUE(found.contains(before)) << "hidden";
                        });
                    if (!was_stopped) {
                        EXPECT_TRUE(tested->insert(other));
                    }
                    while (tested.collect_to(found)) {
                    }
                    EXPECT_EQ(found, (std::set{first, other, before})) << "lost";
                }
            }
        }
    }
}

// Two threads stopped anywhere in their inserts, a third one, and the owner in between.
// Hazard M20.
TEST(remote_free_set, two_stopped_inserts_hide_no_other) {
    for (const std::size_t first : places) {
        for (const std::size_t second : places) {
            for (const std::size_t other : places) {
                if (first == second || first == other || second == other) continue;
                bool one_stopped = true;
                for (std::size_t one = 0; one_stopped && !HasFailure(); ++one) {
                    bool two_stopped = true;
                    for (std::size_t two = 0; two_stopped && !HasFailure(); ++two) {
                        stored<stepping> tested{many};
                        std::set<std::size_t> found;
                        const auto collect = [&] {
                            while (tested.collect_to(found)) {
                            }
                        };
                        two_stopped = false;
                        one_stopped = stopped::at(
                            one, [&] { EXPECT_TRUE(tested->insert(first)); },
                            [&] {
                                two_stopped = stopped::at(
                                    two, [&] { EXPECT_TRUE(tested->insert(second)); },
                                    [&] {
                                        collect();
                                        EXPECT_TRUE(tested->insert(other));
                                        collect();
                                        EXPECT_TRUE(found.contains(other)) << "hidden";
                                    });
                                collect();
                                EXPECT_TRUE(found.contains(second)) << "hidden";
                            });
                        // The numbers of the threads that did not get to insert.
                        if (!one_stopped) {
                            EXPECT_TRUE(tested->insert(second) && tested->insert(other));
                        } else if (!two_stopped) {
                            EXPECT_TRUE(tested->insert(other));
                        }
                        collect();
                        EXPECT_EQ(found, (std::set{first, second, other})) << "lost";
                    }
                }
            }
        }
    }
}

// The owner is stopped anywhere in a collect while others insert.
// Hazard M20.
TEST(remote_free_set, nothing_is_lost_beside_a_collect) {
    for (const std::size_t before : places) {
        for (const std::size_t first : places) {
            for (const std::size_t other : places) {
                if (first == other || before == first || before == other) continue;
                bool was_stopped = true;
                for (std::size_t step = 0; was_stopped && !HasFailure(); ++step) {
                    SCOPED_TRACE(testing::Message() << before << ", " << first << ", " << other << ", step " << step);
                    stored<stepping> tested{many};
                    std::set<std::size_t> found;
                    EXPECT_TRUE(tested->insert(before));
                    was_stopped = stopped::at(
                        step, [&] { tested.collect_to(found); },
                        [&] { EXPECT_TRUE(tested->insert(first) && tested->insert(other)); });
                    if (!was_stopped) {
                        EXPECT_TRUE(tested->insert(first) && tested->insert(other));
                    }
                    while (tested.collect_to(found)) {
                    }
                    EXPECT_EQ(found, (std::set{before, first, other})) << "lost";
                }
                // An insert that is stopped anywhere while the owner collects, and finishes afterwards.
                for (std::size_t step = 0; step < 5; ++step) {
                    stored<stepping> tested{many};
                    std::set<std::size_t> found;
                    EXPECT_TRUE(tested->insert(before) && tested->insert(other));
                    stopped::at(step, [&] { EXPECT_TRUE(tested->insert(first)); }, [&] { tested.collect_to(found); });
                    while (tested.collect_to(found)) {
                    }
                    EXPECT_EQ(found, (std::set{before, first, other})) << "lost";
                }
            }
        }
    }
}

// Fifteen threads insert numbers of their own, again after each collect; each must be collected, never twice at once.
// Hazard M20.
TEST(remote_free_set, threads_insert_while_one_collects) {
    constexpr std::size_t threads = 15;
    constexpr std::size_t each = 300;
    constexpr int rounds = 40;
    stored<std::atomic> tested{threads * each};
    std::vector<std::size_t> written(threads * each, 0);  // beside each number, as by who writes to a slot
    std::vector<std::atomic<int>> collected(threads * each);
    acre_test::in_threads(threads + 1, [&](std::size_t self) {
        if (self == threads) {
            for (std::size_t left = threads * each * rounds; left > 0;) {
                std::set<std::size_t> found;
                if (!tested.collect_to(found)) {
                    std::this_thread::yield();
                    continue;
                }
                left -= found.size();
                for (const std::size_t slot : found) {
                    EXPECT_EQ(written[slot], slot + static_cast<std::size_t>(collected[slot].load())) << "not seen";
                    collected[slot].fetch_add(1);
                }
            }
            return;
        }
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < each; ++i) {
                const std::size_t slot = i * threads + self;
                while (collected[slot].load() != round) std::this_thread::yield();
                written[slot] = slot + static_cast<std::size_t>(round);
                EXPECT_TRUE(tested->insert(slot));
            }
        }
    });
    EXPECT_EQ(tested.collect_all(), std::set<std::size_t>{});
}

}  // namespace
