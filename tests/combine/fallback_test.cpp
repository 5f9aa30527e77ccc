// acre::fallback: the second resource serves what the first cannot; storage goes back to where it came from.
#include <acre/combine/fallback.hpp>

#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre::fallback;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

static_assert(acre::resource<fallback<acre::inline_buffer<64>, acre::heap>>);
static_assert(!acre::owning_resource<fallback<acre::inline_buffer<64>, acre::heap>>, "a heap knows not what it owns");
static_assert(acre::owning_resource<fallback<acre::pool<64>, acre::multi_pool>>);
static_assert(acre::resettable_resource<fallback<acre::arena, acre::multi_pool>>);
static_assert(acre::resizable_resource<fallback<acre::arena, acre::heap>>);
static_assert(!acre::resizable_resource<fallback<acre::pool<64>, acre::heap>>);
static_assert(!std::is_copy_constructible_v<fallback<acre::pool<64>, acre::heap>>);
static_assert(std::is_nothrow_move_constructible_v<fallback<acre::pool<64>, acre::pool<128>>>);
static_assert(!std::is_move_constructible_v<fallback<acre::arena, acre::heap>>);

template <class P, class S>
concept falls_back = requires { typename fallback<P, S>; };
static_assert(!falls_back<acre::heap, acre::heap>, "a heap cannot say what it owns");
static_assert(!falls_back<acre::static_pool<64>, acre::multi_pool> &&
                  !falls_back<acre::segregate<64, acre::static_pool<64>, acre::arena>, acre::heap>,
              "it would give what the pool's upstream served to the secondary");

TEST(fallback, example) {
    acre::arena level;
    acre::fallback<acre::inline_buffer<4096>, acre::heap> request;
    request.deallocate(request.allocate(100), 100);
    acre::fallback shared{level, acre::heap{}};
    static_assert(std::is_same_v<decltype(shared), acre::fallback<acre::arena&, acre::heap>>);
    void* p = shared.allocate(100);
    EXPECT_TRUE(level.owns(p));
    shared.deallocate(p, 100);
}

TEST(fallback, asks_the_second_when_the_first_is_full) {
    checking_upstream below;
    acre::inline_buffer<256> first;
    fallback tested{first, below};
    void* inside = tested.allocate(200);
    EXPECT_TRUE(first.owns(inside));
    EXPECT_EQ(below.requests(), 0u);
    void* outside = tested.allocate(100);
    EXPECT_FALSE(first.owns(outside));
    EXPECT_EQ(below.requests(), 1u);
    void* small = tested.try_allocate(16);
    EXPECT_TRUE(first.owns(small)) << "the first is asked again each time";
    tested.deallocate(outside, 100);
    EXPECT_EQ(below.live_blocks(), 0u);
    tested.deallocate(small, 16);
    tested.deallocate(inside, 200);
    EXPECT_EQ(first.used(), 0u) << "given back to where it came from";
    tested.deallocate(nullptr, 10);
}

TEST(fallback, the_error_is_that_of_the_second) {
    checking_upstream below;
    acre::inline_buffer<64> first;
    fallback tested{first, below};
    below.fail_from(1);
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(100); }, &sentence), refused_as(outcome::out_of_memory));
    if (acre::exceptions_enabled) {
        EXPECT_NE(sentence.find(checking_upstream::name), std::string::npos) << sentence;
    }
    EXPECT_EQ(tested.try_allocate(100), nullptr);
    void* p = tested.allocate(10);
    EXPECT_TRUE(first.owns(p));
    tested.deallocate(p, 10);
    fallback<acre::inline_buffer<64>, acre::heap> other;
    EXPECT_EQ(outcome_of([&] { return other.allocate(8, 3); }), refused_as(outcome::bad_alignment));
}

TEST(fallback, parts_are_constructed_in_place) {
    checking_upstream a;
    checking_upstream b;
    fallback<acre::arena, acre::multi_pool> of_upstreams{a, b};
    fallback<acre::arena, acre::multi_pool> of_options{acre::arena_options{.limit_bytes = 4096},
                                                       acre::pool_options{.limit_bytes = 1 << 20}};
    fallback<acre::arena, acre::multi_pool> of_both{std::piecewise_construct,
                                                    std::forward_as_tuple(acre::arena_options{.limit_bytes = 4096}, a),
                                                    std::forward_as_tuple(b)};
    (void)of_upstreams.allocate(10);
    EXPECT_EQ(a.requests(), 1u);
    (void)of_options.allocate(10'000);
    EXPECT_EQ(of_options.primary().used(), 0u);
    EXPECT_EQ(of_options.secondary().live(), 1u);
    (void)of_both.allocate(10'000);
    EXPECT_EQ(b.requests(), 1u);
    EXPECT_EQ(of_both.capacity(), of_both.secondary().capacity());
}

TEST(fallback, knows_of_both) {
    fallback<acre::pool<64>, acre::multi_pool> tested{acre::pool_options{.limit_bytes = 4096}, acre::pool_options{}};
    std::vector<void*> all;
    for (int i = 0; i < 200; ++i) all.push_back(tested.allocate(64));
    EXPECT_GT(tested.primary().live(), 0u);
    EXPECT_GT(tested.secondary().live(), 0u);
    EXPECT_EQ(tested.live(), 200u);
    EXPECT_GE(tested.used(), std::size_t{200} * 64);
    for (void* p : all) EXPECT_TRUE(tested.owns(p));
    EXPECT_FALSE(tested.owns(&all));
    tested.reset();
    EXPECT_EQ(tested.used(), 0u);
    tested.release();
    EXPECT_EQ(tested.capacity(), 0u);
}

TEST(fallback, resizes_where_the_storage_came_from) {
    fallback<acre::arena, acre::heap> tested{acre::arena_options{.limit_bytes = 4096}, acre::heap{}};
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 1000));
    EXPECT_FALSE(tested.try_resize(p, 1000, 5000));
    void* q = tested.allocate(10'000);
    EXPECT_FALSE(tested.try_resize(q, 10'000, 100)) << "the heap cannot, and must get it back as it was";
    EXPECT_TRUE(tested.try_resize(q, 10'000, 10'000));
    tested.deallocate(q, 10'000);
    tested.deallocate(p, 1000);
}

// Hazard X16.
TEST(fallback, moves_with_what_is_live) {
    fallback<acre::pool<64>, acre::pool<128>> first;
    void* p = first.allocate(50);
    auto second = std::move(first);
    EXPECT_TRUE(second.owns(p));
    EXPECT_FALSE(first.owns(p));
    second.deallocate(p, 50);
}

TEST(fallback, nests_and_counts) {
    // The requests that reached the heap.
    fallback<acre::inline_buffer<1024>, acre::statistics<acre::heap>> tested;
    std::vector<char, acre::allocator<char, decltype(tested)>> text{tested};
    for (int i = 0; i < 10'000; ++i) text.push_back('x');
    EXPECT_GT(tested.secondary().counts().allocations.total, 0u);
    EXPECT_EQ(tested.secondary().counts().allocations.value, 1u);
}

}  // namespace
