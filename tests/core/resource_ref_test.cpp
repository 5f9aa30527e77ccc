// acre::resource_ref.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstring>
#include <memory_resource>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;

TEST(resource_ref, example) {
    acre::arena first;
    acre::multi_pool second{first};
    acre::arena third{std::pmr::get_default_resource()};
    EXPECT_TRUE(first.owns(second.allocate(100)));
    EXPECT_NE(third.allocate(100), nullptr);
}

TEST(resource_ref, refers_and_copies_the_handle_only) {
    checking_upstream upstream;
    const acre::resource_ref one{upstream};
    const acre::resource_ref other = one;
    void* p = one.allocate(100, 32);
    EXPECT_EQ(upstream.live_bytes(), 100u);
    other.deallocate(p, 100, 32);
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

TEST(resource_ref, equals_when_the_resource_is_the_same) {
    acre::arena one;
    acre::arena other;
    EXPECT_EQ(acre::resource_ref{one}, acre::resource_ref{one});
    EXPECT_NE(acre::resource_ref{one}, acre::resource_ref{other});
    EXPECT_EQ(acre::resource_ref{acre::heap{}}, acre::resource_ref{acre::heap{}});
    EXPECT_NE(acre::resource_ref{acre::heap{}}, acre::resource_ref{one});
    EXPECT_EQ(acre::resource_ref{std::pmr::null_memory_resource()},
              acre::resource_ref{std::pmr::null_memory_resource()});
}

#if defined(__cpp_exceptions)
TEST(resource_ref, a_null_memory_resource_is_a_bad_option) {
    EXPECT_THROW(acre::resource_ref{static_cast<std::pmr::memory_resource*>(nullptr)}, acre::bad_option);
}

TEST(resource_ref, try_turns_what_a_memory_resource_throws_into_null) {
    acre::resource_ref none{std::pmr::null_memory_resource()};
    EXPECT_EQ(none.try_allocate(1, 1), nullptr);
    EXPECT_EQ(outcome_of([&] { return none.allocate(1, 1); }), outcome::out_of_memory);
}
#endif

// Pools of libstdc++ 12 return misaligned addresses for 24 bytes aligned to 16.
// Hazard X1.
TEST(resource_ref, pools_of_the_standard_library_align_too) {
    std::pmr::unsynchronized_pool_resource pools;
    acre::resource_ref over{&pools};
    for (std::size_t bytes = 1; bytes < 300; bytes += 7) {
        for (std::size_t alignment = 1; alignment <= 256; alignment *= 2) {
            EXPECT_TRUE(acre::is_aligned(over.allocate(bytes, alignment), alignment)) << bytes << ' ' << alignment;
        }
    }
}

// Promise 2 over the standard's interface, which does not promise it.
// Hazard B6.
TEST(resource_ref, a_size_that_wraps_when_rounded_up_does_not_reach_a_memory_resource) {
    acre::resource_ref general{std::pmr::new_delete_resource()};
    EXPECT_EQ(general.try_allocate(SIZE_MAX - 10, 4096), nullptr);
    EXPECT_EQ(outcome_of([&] { return general.allocate(SIZE_MAX - 10, 4096); }),
              acre_test::refused_as(outcome::request_too_large));
}

}  // namespace
