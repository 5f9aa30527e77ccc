// acre::heap, acre::pmr_upstream and acre::no_memory.
#include <gtest/gtest.h>

#include <acre/arenas/inline_arena.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/statistics.hpp>
#include <cstring>
#include <memory_resource>
#include <type_traits>

#include "conformance/refusal.hpp"
#include "sizes.hpp"

namespace {

using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

TEST(heap, example) {
    acre::heap general;
    void* p = general.allocate(100, 64);
    EXPECT_TRUE(acre::is_aligned(p, 64));
    general.deallocate(p, 100, 64);
}

TEST(heap, has_no_state) {
    static_assert(std::is_empty_v<acre::heap> && acre::stateless_resource<acre::heap>);
    static_assert(acre::stateless_resource<acre::no_memory>);
    EXPECT_EQ(acre::heap{}, acre::heap{});
}

TEST(heap, says_why_it_refused) {
    acre::heap general;
    EXPECT_EQ(outcome_of([&] { return general.allocate(SIZE_MAX, 1); }), refused_as(outcome::request_too_large));
    if (acre_test::sizes_have_64_bits) {  // a heap of 32 bits may have as much
        EXPECT_EQ(outcome_of([&] { return general.allocate(acre::max_request - 100, 16); }),
                  refused_as(outcome::out_of_memory));
    }
    EXPECT_EQ(outcome_of([&] { return general.allocate(1, 3); }), refused_as(outcome::bad_alignment));
}

TEST(no_memory, example) {
    acre::inline_arena<4096> fixed{acre::no_memory{}};
    EXPECT_NE(fixed.try_allocate(4000), nullptr);
    // With room for redzones the storage is three times as large.
    EXPECT_EQ(fixed.try_allocate(acre::poisoning ? 10'000 : 100), nullptr);
}

TEST(no_memory, takes_back_null_only) {
    acre::no_memory none;
    none.deallocate(nullptr, 8, 8);
    int other = 0;
    EXPECT_DEATH(none.deallocate(&other, 4, 4), "acre::no_memory: a pointer was given back that was never handed out");
}

TEST(pmr_upstream, example) {
    acre::statistics<acre::pmr_upstream> counted{std::pmr::get_default_resource()};
    void* p = counted.allocate(100);
    EXPECT_EQ(counted.counts().bytes.value, 100u);
    counted.deallocate(p, 100);
}

TEST(pmr_upstream, equals_when_the_memory_resource_is_the_same) {
    std::pmr::unsynchronized_pool_resource pools;
    EXPECT_EQ(acre::pmr_upstream{&pools}, acre::pmr_upstream{&pools});
    EXPECT_NE(acre::pmr_upstream{&pools}, acre::pmr_upstream{std::pmr::new_delete_resource()});
}

}  // namespace
