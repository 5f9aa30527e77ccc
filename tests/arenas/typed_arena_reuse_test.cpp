// acre::typed_arena with `.reuse`: single objects and runs, freed neighbours that merge, misuse.
#include <gtest/gtest.h>

#include <acre/arenas/typed_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/hierarchical_bitset.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "conformance/refusal.hpp"

namespace {

using acre::typed_arena;
using acre::typed_arena_options;

constexpr typed_arena_options reusing{.reuse = true};
constexpr typed_arena_options reusing_shared{.reuse = true, .synchronized = true};

struct item {
    std::uint32_t words[3];
};

// Compares the arena with a vector of the owner of each slot.
template <std::size_t N, auto Options>
class compared {
public:
    explicit compared(std::uint32_t seed) : random_(seed) {}

    void step() {
        const std::size_t wanted = random_() % 3 == 0 ? random_() % (N / 4 + 2) : 1;
        // Grows and shrinks by turns, so that the arena becomes full and nearly empty.
        const bool shrinks = steps_++ / (N + 50) % 2 == 1;
        if (random_() % 4 == 0 ? shrinks : !shrinks) {
            allocate(wanted, random_() % 4 == 0 ? std::size_t{4} << random_() % 3 : alignof(item));
        } else if (!runs_.empty()) {
            deallocate(random_() % runs_.size());
        }
        ASSERT_EQ(arena_->used(), used_ * sizeof(item));
    }

    void finish() {
        while (!runs_.empty() && !testing::Test::HasFailure()) deallocate(random_() % runs_.size());
        ASSERT_EQ(arena_->used(), 0u);
        // All free slots have merged into one run.
        ASSERT_NE(arena_->try_allocate_n(N), nullptr);
        arena_->reset();
        ASSERT_EQ(arena_->used(), 0u);
        ASSERT_NE(arena_->try_allocate_n(N), nullptr);
        arena_->reset();
    }

    std::size_t refused() const { return refused_; }

private:
    struct run {
        item* first;
        std::size_t count;
        std::uint32_t mark;
    };

    static std::size_t slots_of(std::size_t count) { return count == 0 ? 1 : count; }

    void allocate(std::size_t count, std::size_t alignment) {
        item* first;
        if (alignment != alignof(item)) {
            first = static_cast<item*>(arena_->try_allocate(count * sizeof(item), alignment));
        } else {
            first = count == 1 ? arena_->try_allocate_one() : arena_->try_allocate_n(count);
        }
        const std::size_t slots = slots_of(count);
        ASSERT_EQ(first != nullptr, has_room(slots, alignment)) << "for " << slots << " slots";
        ASSERT_TRUE(acre::is_aligned(first, alignment));
        if (first == nullptr) {
            ++refused_;
            return;
        }
        if (base_ == nullptr) base_ = first;
        for (std::size_t i = 0; i < slots; ++i) {
            const auto slot = static_cast<std::size_t>(first + i - base_);
            ASSERT_LT(slot, N);
            ASSERT_FALSE(taken_[slot]) << "slot " << slot << " was handed out twice";
            taken_[slot] = true;
        }
        used_ += slots;
        const auto mark = static_cast<std::uint32_t>(random_());
        for (std::size_t i = 0; i < count; ++i) first[i] = {{mark, mark + 1, mark + 2}};
        runs_.push_back({first, count, mark});
    }

    void deallocate(std::size_t which) {
        const run freed = runs_[which];
        runs_[which] = runs_.back();
        runs_.pop_back();
        for (std::size_t i = 0; i < freed.count; ++i) {
            ASSERT_EQ(freed.first[i].words[0], freed.mark);
            ASSERT_EQ(freed.first[i].words[2], freed.mark + 2);
        }
        const std::size_t slots = slots_of(freed.count);
        for (std::size_t i = 0; i < slots; ++i) taken_[static_cast<std::size_t>(freed.first + i - base_)] = false;
        used_ -= slots;
        if (freed.count == 1) {
            arena_->deallocate_one(freed.first);
        } else {
            arena_->deallocate_n(freed.first, freed.count);
        }
    }

    bool has_room(std::size_t slots, std::size_t alignment) const {
        std::size_t end = 0;  // of the run of free slots at `start`
        for (std::size_t start = 0; start + slots <= N; ++start) {
            for (end = std::max(end, start); end < N && !taken_[end]; ++end) {
            }
            if (end >= start + slots && start * sizeof(item) % alignment == 0) return true;
        }
        return false;
    }

    std::mt19937 random_;
    std::unique_ptr<typed_arena<item, N, Options>> arena_ = std::make_unique<typed_arena<item, N, Options>>();
    item* base_ = nullptr;  // the first allocation gets the first slot
    std::vector<bool> taken_ = std::vector<bool>(N);
    std::vector<run> runs_;
    std::size_t used_ = 0;
    std::size_t refused_ = 0;
    std::size_t steps_ = 0;
};

template <std::size_t N, auto Options>
void expect_as_the_model() {
    std::size_t refused = 0;
    for (std::uint32_t seed = 1; seed <= 5 && !testing::Test::HasFailure(); ++seed) {
        compared<N, Options> both{seed};
        for (std::size_t i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) both.step();
        refused += both.refused();
        both.finish();
    }
    EXPECT_GT(refused, 0u) << "it was never full";
}

// Hazards M8, A12.
TEST(typed_arena_reuse, matches_a_model) {
    expect_as_the_model<1, reusing>();
    expect_as_the_model<7, reusing>();
    expect_as_the_model<64, reusing>();
    expect_as_the_model<65, reusing>();
    expect_as_the_model<200, reusing>();
    expect_as_the_model<200, reusing_shared>();
    expect_as_the_model<5000, reusing>();
}

// Hazard C2.
TEST(typed_arena_reuse, freed_storage_is_used_again) {
    typed_arena<item, 4, reusing> arena;
    for (int i = 0; i < 1000; ++i) {
        item* one = arena.allocate_one();
        item* two = arena.allocate_n(2);
        arena.deallocate_one(one);
        arena.deallocate_n(two, 2);
    }
    EXPECT_EQ(arena.used(), 0u);
}

// Three freed objects make room for an array of three, in any order of the frees.
TEST(typed_arena_reuse, freed_neighbours_are_merged) {
    for (std::vector<int> order{0, 1, 2}; std::next_permutation(order.begin(), order.end());) {
        typed_arena<item, 5, reusing> arena;
        item* all = arena.allocate_n(5);
        for (const int each : order) arena.deallocate_one(all + 1 + each);
        EXPECT_EQ(arena.try_allocate_n(4), nullptr);
        EXPECT_EQ(arena.try_allocate_n(3), all + 1);
    }
}

TEST(typed_arena_reuse, freed_slots_merge_with_those_never_used) {
    typed_arena<item, 10, reusing> arena;
    item* all = arena.allocate_n(6);
    arena.deallocate_n(all + 4, 2);
    EXPECT_EQ(arena.try_allocate_n(7), nullptr);
    EXPECT_EQ(arena.try_allocate_n(6), all + 4);
}

// A run may be freed in pieces, and adjacent pieces as one run.
TEST(typed_arena_reuse, runs_go_back_in_parts) {
    typed_arena<item, 300, reusing> arena;
    item* all = arena.allocate_n(300);
    for (int i = 0; i < 300; i += 10) arena.deallocate_n(all + i, 10);
    EXPECT_EQ(arena.used(), 0u);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(arena.allocate_one(), all + i) << "the lowest slot first";
    arena.deallocate_n(all, 300);
    EXPECT_EQ(arena.used(), 0u);
}

// Hazards M8, N3, P2, C6.
TEST(typed_arena_reuse, misuse_is_reported) {
    typed_arena<item, 10, reusing> arena;
    typed_arena<item, 10, reusing> other;
    item* one = arena.allocate_one();
    item* run = arena.allocate_n(3);
    EXPECT_DEATH(other.deallocate_one(one), "acre::typed_arena: a pointer was freed that is not of this arena");
    EXPECT_DEATH(arena.deallocate_n(run, 4), "acre::typed_arena: slots were freed that were never handed out");
    EXPECT_DEATH(arena.deallocate_one(run + 5), "never handed out");
    EXPECT_DEATH(arena.deallocate(reinterpret_cast<char*>(run) + 4, 12, 4), "acre::typed_arena: a pointer was freed");
    arena.deallocate_one(one);
    EXPECT_DEATH(arena.deallocate_one(one), "acre::typed_arena: double free");
    arena.deallocate_one(run + 1);
    EXPECT_DEATH(arena.deallocate_n(run, 3), "acre::typed_arena: double free");
}

/// Ends the program well where its destructor runs and must not.
struct guarded {
    int value = 0;
    static inline bool may_end = true;
    ~guarded() {
        if (!may_end) std::_Exit(0);
    }
};

template <class Arena>
void expect_named_before_a_destructor() {
    Arena arena;
    Arena other;
    guarded* one = arena.create();
    guarded* two = arena.create();
    guarded::may_end = false;
    EXPECT_DEATH(other.destroy(one), "acre::typed_arena: a pointer was freed that is not of this arena");
    EXPECT_DEATH(arena.destroy(two + 1), "acre::typed_arena: slots were freed that were never handed out");
    guarded::may_end = true;
    arena.destroy(one);
    guarded::may_end = false;
    EXPECT_DEATH(arena.destroy(one), "acre::typed_arena: double free");
    guarded::may_end = true;
    arena.destroy(two);
}

TEST(typed_arena_reuse, misuse_is_named_before_a_destructor_runs) {
    expect_named_before_a_destructor<typed_arena<guarded, 10, reusing>>();
    expect_named_before_a_destructor<typed_arena<guarded, 10, reusing_shared>>();
}

// hierarchical_bitset against std::set.
template <std::size_t N>
void expect_as_std_set() {
    const auto tested = std::make_unique<acre::detail::hierarchical_bitset<N>>();
    std::set<std::size_t> model;
    std::mt19937 random{static_cast<std::uint32_t>(N)};
    const auto missing_from = [&](std::size_t from, std::size_t end) {
        while (from < end && model.contains(from)) ++from;
        return from;
    };
    const auto run_before = [&](std::size_t end) {
        while (end > 0 && model.contains(end - 1)) --end;
        return end;
    };
    // The model takes a step for each number of a run.
    constexpr int rounds = N < 4096 ? 4000 : acre_test::sanitized ? 200 : 800;
    for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
        const std::size_t at = random() % N;
        const std::size_t count = random() % 4 == 0 ? random() % (N - at) + 1 : 1;
        const bool inserts = (i / 200) % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
        for (std::size_t each = at; each < at + count; ++each)
            inserts ? (void)model.insert(each) : (void)model.erase(each);
        if (count == 1) {
            inserts ? tested->insert(at) : tested->erase(at);
        } else {
            inserts ? tested->insert_run(at, count) : tested->erase_run(at, count);
        }
        const std::size_t asked = random() % N;
        ASSERT_EQ(tested->contains(asked), model.contains(asked));
        const auto next = model.lower_bound(asked);
        ASSERT_EQ(tested->next(asked), next == model.end() ? N : *next);
        if (!model.empty()) {
            ASSERT_EQ(tested->first(), *model.begin());
        }
        ASSERT_EQ(tested->next_missing(asked, N), missing_from(asked, N));
        ASSERT_EQ(tested->run_before(asked), run_before(asked));
    }
    tested->erase_below(N);
    EXPECT_EQ(tested->next(0), N);
}

TEST(hierarchical_bitset, matches_a_set_of_the_standard_library) {
    expect_as_std_set<1>();
    expect_as_std_set<63>();
    expect_as_std_set<64>();
    expect_as_std_set<65>();
    expect_as_std_set<4096>();
    expect_as_std_set<4097>();
    expect_as_std_set<70'000>();
}

static_assert(sizeof(acre::detail::hierarchical_bitset<1'000'000>) <= 1'000'000 / 8 * 64 / 63 + 64);

}  // namespace
