// acre::allocator: its traits, its equality, and its requests to the resource.
#include <acre/adapt/allocator.hpp>

#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;

template <class T>
using of_arena = acre::allocator<T, acre::arena>;

TEST(allocator, example) {
    acre::arena level;
    std::vector<int, acre::allocator<int, acre::arena>> v{level};
    v.push_back(1);
    EXPECT_TRUE(level.owns(v.data()));
}

#if !defined(ACRE_CHECKED)  // checked resources give what was asked for
TEST(allocator, at_least_gives_the_rest_of_the_slot) {
    acre::multi_pool nodes;
    acre::allocator<int, acre::multi_pool> of_slots{nodes};
    const auto got = of_slots.allocate_at_least(25);
    EXPECT_EQ(got.count, 26u) << "a slot of 104 bytes";
    of_slots.deallocate(got.ptr, 25);  // as std allows, fewer than given
    EXPECT_EQ(nodes.live(), 0u);
    const acre::allocation_result<void*> bytes = acre::allocate_at_least(nodes, 100);
    EXPECT_EQ(bytes.count, 112u) << "aligned to 16";
    nodes.deallocate(bytes.ptr, bytes.count);
    acre::arena level;
    acre::allocator<int, acre::arena> cut{level};
    EXPECT_EQ(cut.allocate_at_least(25).count, 25u);
    EXPECT_EQ(outcome_of([&] { return of_slots.allocate_at_least(SIZE_MAX / 2).ptr; }), outcome::request_too_large);

    acre::general_heap heap;
    acre::arena_vector<int, acre::general_heap> numbers{heap};
    numbers.reserve(25);
    EXPECT_EQ(numbers.capacity(), acre::poisoning ? 25u : 28u);
}
#endif

// Hazard A10: a container keeps its resource, as with std::pmr. A swap calls the allocator's, which compares.
TEST(allocator, traits) {
    using traits = std::allocator_traits<of_arena<int>>;
    static_assert(!traits::propagate_on_container_copy_assignment::value);
    static_assert(!traits::propagate_on_container_move_assignment::value);
    static_assert(traits::propagate_on_container_swap::value);
    static_assert(std::is_nothrow_move_assignable_v<std::vector<int, acre::allocator<int, acre::heap>>>);
    static_assert(!traits::is_always_equal::value);
    static_assert(std::allocator_traits<acre::allocator<int, acre::heap>>::is_always_equal::value);
    static_assert(std::is_same_v<traits::rebind_alloc<char>, of_arena<char>>);
    SUCCEED();
}

TEST(allocator, a_stateless_resource_costs_nothing) {
    static_assert(std::is_empty_v<acre::allocator<int, acre::heap>>);
    static_assert(sizeof(of_arena<int>) == sizeof(void*));
    static_assert(sizeof(std::vector<int, acre::allocator<int, acre::heap>>) == sizeof(std::vector<int>));
    acre::allocator<int, acre::heap> any;
    int* p = any.allocate(3);
    p[2] = 1;
    any.deallocate(p, 3);
}

// Hazard A10.
TEST(allocator, equal_when_the_resource_is_the_same) {
    acre::arena one;
    acre::arena other;
    EXPECT_TRUE(of_arena<int>{one} == of_arena<char>{one});
    EXPECT_FALSE(of_arena<int>{one} == of_arena<char>{other});
    EXPECT_TRUE(of_arena<int>{one} != of_arena<int>{other});
    EXPECT_EQ((acre::allocator<int, acre::heap>{}), (acre::allocator<char, acre::heap>{}));
    EXPECT_EQ(of_arena<char>{of_arena<int>{one}}, of_arena<int>{one});
    EXPECT_EQ(&of_arena<int>{one}.referred(), &one);
}

TEST(allocator, asks_for_the_bytes_and_the_alignment_of_its_type) {
    struct alignas(128) wide {
        char c[200];
    };
    checking_upstream upstream;
    acre::allocator<wide, checking_upstream> tested{upstream};
    wide* p = tested.allocate(3);
    EXPECT_TRUE(acre::is_aligned(p, 128));
    EXPECT_EQ(upstream.live_bytes(), 3 * sizeof(wide));
    tested.deallocate(p, 3);
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Hazard B6.
TEST(allocator, counts_that_wrap_are_refused) {
    checking_upstream upstream;
    acre::allocator<std::uint64_t, checking_upstream> tested{upstream};
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 8, acre::max_request / 8 + 1}) {
        EXPECT_EQ(outcome_of([&] { return tested.allocate(count); }), outcome::request_too_large) << count;
    }
    EXPECT_EQ(upstream.requests(), 0u);
}

// Hazard X18.
TEST(allocator, sizes_come_from_the_container) {
    checking_upstream upstream;
    acre::multi_pool nodes{upstream};
    std::vector<std::shared_ptr<std::uint64_t>> kept;
    for (std::uint64_t i = 0; i < 100; ++i) {
        kept.push_back(std::allocate_shared<std::uint64_t>(acre::allocator<char, acre::multi_pool>{nodes}, i));
    }
    EXPECT_EQ(*kept[99], 99u);
    EXPECT_EQ(nodes.live(), 100u);
}

}  // namespace
