// acre::segregate: the size selects the resource, in allocate and in deallocate.
#include <acre/combine/segregate.hpp>

#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre::segregate;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

static_assert(acre::resource<segregate<64, acre::pool<64>, acre::heap>>);
static_assert(!acre::owning_resource<segregate<64, acre::pool<64>, acre::heap>>);
static_assert(acre::owning_resource<segregate<64, acre::pool<64>, acre::multi_pool>>);
static_assert(acre::resizable_resource<segregate<64, acre::pool<64>, acre::arena>>);
static_assert(!std::is_copy_constructible_v<segregate<64, acre::pool<64>, acre::heap>>);
static_assert(std::is_nothrow_move_constructible_v<segregate<64, acre::pool<64>, acre::heap>>);
static_assert(segregate<64, acre::pool<64>, acre::heap>::threshold == 64);

TEST(segregate, example) {
    acre::segregate<128, acre::pool<128>, acre::heap> nodes;
    void* small = nodes.allocate(100);
    void* large = nodes.allocate(1000);
    EXPECT_EQ(nodes.small().live(), 1u);
    nodes.deallocate(small, 100);
    nodes.deallocate(large, 1000);
    EXPECT_EQ(nodes.small().live(), 0u);
}

// Hazard C1: the threshold itself and zero bytes are small; storage goes back to where it came from.
TEST(segregate, the_threshold_itself_is_small) {
    checking_upstream small;
    checking_upstream large;
    segregate<100, checking_upstream&, checking_upstream&> tested{small, large};
    struct block {
        void* p;
        std::size_t bytes;
    };
    std::vector<block> all;
    for (const std::size_t bytes : {0u, 1u, 99u, 100u, 101u, 5000u}) {
        all.push_back({bytes % 2 == 0 ? tested.allocate(bytes, 8) : tested.try_allocate(bytes, 8), bytes});
        EXPECT_EQ(small.live_blocks(), std::min<std::size_t>(all.size(), 4));
    }
    EXPECT_EQ(large.live_blocks(), 2u);
    for (const block& each : all) tested.deallocate(each.p, each.bytes, 8);
    EXPECT_EQ(small.live_blocks() + large.live_blocks(), 0u);
    tested.deallocate(nullptr, 10);
    tested.deallocate(nullptr, 1000);
}

TEST(segregate, a_failure_of_one_is_not_served_by_the_other) {
    checking_upstream small;
    checking_upstream large;
    segregate<100, checking_upstream&, checking_upstream&> tested{small, large};
    small.fail_from(1);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(10, 8); }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(tested.try_allocate(10, 8), nullptr);
    EXPECT_EQ(large.requests(), 0u);
}

TEST(segregate, resizes_within_one_resource_only) {
    segregate<100, acre::arena, acre::arena> tested;
    void* p = tested.allocate(10, 8);
    EXPECT_TRUE(tested.try_resize(p, 10, 100));
    EXPECT_FALSE(tested.try_resize(p, 100, 101));
    void* q = tested.allocate(1000, 8);
    EXPECT_TRUE(tested.try_resize(q, 1000, 2000));
    EXPECT_FALSE(tested.try_resize(q, 2000, 50)) << "it would be given back to the other";
    EXPECT_TRUE(tested.owns(p) && tested.owns(q));
    tested.deallocate(q, 2000);
    tested.deallocate(p, 100);
    EXPECT_EQ(tested.used(), 0u);
}

TEST(segregate, nests_for_more_sizes) {
    segregate<64, acre::pool<64>, segregate<512, acre::pool<512>, acre::heap>> tested;
    void* a = tested.allocate(64);
    void* b = tested.allocate(500);
    void* c = tested.allocate(5000);
    EXPECT_EQ(tested.small().live(), 1u);
    EXPECT_EQ(tested.large().small().live(), 1u);
    tested.deallocate(a, 64);
    tested.deallocate(b, 500);
    tested.deallocate(c, 5000);
    EXPECT_EQ(tested.small().live() + tested.large().small().live(), 0u);
}

TEST(segregate, is_counted_as_a_whole_and_in_parts) {
    acre::statistics<segregate<64, acre::statistics<acre::pool<64>>, acre::heap>> tested;
    void* small = tested.allocate(50);
    void* large = tested.allocate(100);
    EXPECT_EQ(tested.counts().allocations.value, 2u);
    EXPECT_EQ(tested.small().counts().allocations.value, 1u);
    EXPECT_EQ(tested.report().rfind("acre::segregate\n", 0), 0u) << tested.report();
    tested.deallocate(small, 50);
    tested.deallocate(large, 100);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
}

// Hazard X16.
TEST(segregate, moves_with_what_is_live) {
    segregate<64, acre::pool<64>, acre::pool<512>> first;
    void* p = first.allocate(500);
    auto second = std::move(first);
    EXPECT_EQ(second.live(), 1u);
    second.deallocate(p, 500);
    EXPECT_EQ(first.live() + second.live(), 0u);
}

}  // namespace
