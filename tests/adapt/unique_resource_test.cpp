// A handle that moves: the resource stays where it is, and has all that points to it.
#include <acre/adapt/unique_resource.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre::unique_resource;
using acre_test::checking_upstream;
using acre_test::tracked;

static_assert(std::is_nothrow_move_constructible_v<unique_resource<acre::arena>>);
static_assert(std::is_nothrow_move_assignable_v<unique_resource<acre::arena>>);
static_assert(!std::is_copy_constructible_v<unique_resource<acre::arena>>);
// A handle leads to its resource, but is none, since it moves.
static_assert(!acre::resource<unique_resource<acre::arena>>);
static_assert(std::is_constructible_v<acre::resource_ref, unique_resource<acre::arena>&>);
static_assert(!std::is_constructible_v<acre::resource_ref, unique_resource<acre::arena>>);
static_assert(sizeof(unique_resource<acre::arena>) == 3 * sizeof(void*));

unique_resource<acre::arena> load_level() {
    unique_resource<acre::arena> level{{.first_block_bytes = 65536}};
    level.create<tracked>(1);
    return level;
}

// Hazards A4, A7, X16.
TEST(unique_resource, example) {
    tracked::start();
    unique_resource<acre::arena> level = load_level();
    unique_resource<acre::arena> moved;
    {
        std::vector<int, acre::allocator<int, acre::arena>> numbers{*level};
        acre::scratch temp{*level};
        (void)temp.allocate(100);
        moved = std::move(level);
        EXPECT_FALSE(level);
        ASSERT_TRUE(moved);
        temp.end();
        numbers.assign(100, 1);
        EXPECT_TRUE(moved.owns(numbers.data()));
    }
    EXPECT_EQ(tracked::live, 1);
    moved = unique_resource<acre::arena>{};
    EXPECT_EQ(tracked::live, 0);
}

TEST(unique_resource, has_the_members_of_the_resource) {
    unique_resource<acre::arena> level{{.fixed_bytes = 1000}};
    EXPECT_GE(level.remaining(), 1000u);
    EXPECT_EQ(level.remaining(), level->remaining());
    const auto begin = level.mark();
    (void)level.copy("text");
    (void)level.allocate<int>(3);
    EXPECT_TRUE(level.try_create<std::string>("text") != nullptr);
    level.rewind(begin);
    EXPECT_EQ(level->used(), 0u);
    level.reset(acre::release);
    unique_resource<acre::multi_arena> frames{{.arenas = 4, .bytes = 1024}};
    frames.deallocate(frames.allocate(100), 100);
    EXPECT_EQ(frames.busy_arenas(), 0u);
    unique_resource<acre::concurrent_object_pool<int>> shared;
    shared.destroy(shared.create(3));
    EXPECT_EQ(shared.live(), 0u);
}

TEST(unique_resource, lies_in_the_upstream_that_is_given) {
    checking_upstream below;
    {
        unique_resource<acre::arena> level{{}, below};
        EXPECT_EQ(below.live_bytes(), sizeof(acre::arena));
        (void)level.allocate(100);
        std::vector<unique_resource<acre::arena>> all;
        all.push_back(std::move(level));
        all.emplace_back();
        all.erase(all.begin());
        EXPECT_EQ(below.live_blocks(), 0u);
        all.clear();
    }
    below.fail_from(0);
    EXPECT_THROW((unique_resource<acre::arena>{{}, below}), acre::out_of_memory);
}

TEST(unique_resource, says_when_it_was_moved_from) {
    unique_resource<acre::arena> level;
    const unique_resource<acre::arena> moved{std::move(level)};
    EXPECT_DEATH((void)level.allocate(1), "acre::unique_resource: used after it was moved from");
    EXPECT_DEATH((void)*level, "acre::unique_resource: used after it was moved from");
    EXPECT_EQ(moved.used(), 0u);
}

}  // namespace
