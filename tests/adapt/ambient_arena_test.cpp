// This thread's arena and the program's pools, as resources without state.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/error.hpp>
#include <list>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using arena_vector_of_ints = std::vector<int, acre::arena_allocator<int>>;
using pooled_list = std::list<int, acre::allocator<int, acre::program_pools>>;

static_assert(acre::arena_allocator<int>::is_always_equal::value);
static_assert(!std::is_copy_constructible_v<acre::use_arena>);
static_assert(acre::shared_resource<acre::program_pools>);

// Made before main, and destroyed after it.
pooled_list of_the_program{1, 2, 3};

TEST(ambient_arena, scopes_nest) {
    acre::arena outer;
    acre::arena inner;
    const acre::use_arena use_outer{outer};
    {
        const acre::use_arena use_inner{inner};
        const arena_vector_of_ints numbers(10);
        EXPECT_TRUE(inner.owns(numbers.data()));
    }
    const arena_vector_of_ints numbers(10);
    EXPECT_TRUE(outer.owns(numbers.data()));
}

TEST(ambient_arena, a_block_is_freed_in_any_scope_and_thread) {
    acre::arena first;
    acre::arena second;
    arena_vector_of_ints numbers;
    arena_vector_of_ints others;
    {
        const acre::use_arena use{first};
        numbers.assign(100, 7);
        others.assign(100, 8);
    }
    {
        const acre::use_arena use{second};
        numbers.resize(1000);
        EXPECT_TRUE(second.owns(numbers.data()));
        EXPECT_EQ(numbers[99], 7);
    }
    std::thread{[moved = std::move(others)]() mutable { moved = {}; }}.join();
    numbers = {};  // outside of scopes
}

TEST(ambient_arena, an_arena_at_its_limit_throws) {
    acre::arena small{{.fixed_bytes = 64}};
    const acre::use_arena use{small};
    EXPECT_THROW(arena_vector_of_ints(1000), acre::allocation_error);
    EXPECT_EQ(acre::ambient_arena{}.try_allocate(1000), nullptr);
    EXPECT_NE(acre::ambient_arena{}.try_allocate(64), nullptr);
}

TEST(ambient_arena_death, outside_of_a_scope_is_refused) {
    EXPECT_DEATH((void)acre::ambient_arena{}.try_allocate(8), "allocated outside of a scope");
    acre::arena other;
    const acre::use_arena use{other};
    EXPECT_DEATH(std::thread{[] { (void)acre::ambient_arena{}.try_allocate(8); }}.join(), "outside of a scope");
}

TEST(ambient_arena_death, a_scope_that_ends_before_an_inner_one) {
    acre::arena first, second;
    std::optional<acre::use_arena> outer{first};
    {
        const acre::use_arena inner{second};
        EXPECT_DEATH(outer.reset(), "acre::use_arena: a scope ended before an inner one");
    }
    outer.reset();
}

TEST(program_pools, any_thread_frees) {
    const std::size_t before = acre::program_pools::get().live();
    EXPECT_GE(before, of_the_program.size());
    pooled_list numbers{1, 2, 3};
    EXPECT_EQ(acre::program_pools::get().live(), before + 3);
    std::thread{[moved = std::move(numbers)]() mutable { moved.clear(); }}.join();
    EXPECT_EQ(acre::program_pools::get().live(), before);
}

}  // namespace
