// How an arena takes blocks from upstream, and that it takes none when it holds enough.
#include <gtest/gtest.h>

#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/observe/statistics.hpp>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "conformance/refusal.hpp"
#include "conformance/worlds.hpp"
#include "sizes.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::raw_storage;

using sizes = std::vector<std::size_t>;

TEST(arena, blocks_double_up_to_the_cap) {
    checking_upstream upstream;
    acre::arena tested{{.first_block_bytes = 1_KiB, .max_block_bytes = 8_KiB}, upstream};
    while (upstream.sizes().size() < 7) (void)tested.allocate(64);
    EXPECT_EQ(upstream.sizes(), (sizes{1_KiB, 2_KiB, 4_KiB, 8_KiB, 8_KiB, 8_KiB, 8_KiB}));
}

TEST(arena, begins_with_4_KiB_and_stops_at_1_MiB) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    while (upstream.sizes().size() < 11) (void)tested.allocate(3000);
    EXPECT_EQ(upstream.sizes()[0], 4_KiB);
    EXPECT_EQ(upstream.sizes()[1], 8_KiB);
    EXPECT_EQ(upstream.sizes()[8], 1_MiB);
    EXPECT_EQ(upstream.sizes()[10], 1_MiB);
}

// Hazards X3, X8.
TEST(arena, an_oversize_request_does_not_feed_growth) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    auto* small = static_cast<std::byte*>(tested.allocate(16));
    (void)tested.allocate(5_MiB);
    EXPECT_EQ(tested.allocate(16), small + 16 + acre::redzone_bytes) << "the current block was left";
    while (upstream.sizes().size() < 3) (void)tested.allocate(512);
    EXPECT_EQ(upstream.sizes()[0], 4_KiB);
    EXPECT_LE(upstream.sizes()[1], 5_MiB + 64);
    EXPECT_EQ(upstream.sizes()[2], 8_KiB);
}

// Hazard X3.
TEST(arena, a_request_larger_than_the_largest_block_is_served) {
    checking_upstream upstream;
    acre::arena tested{{.first_block_bytes = 4_KiB, .max_block_bytes = 4_KiB}, upstream};
    EXPECT_NE(tested.allocate(64_KiB), nullptr);
    EXPECT_NE(tested.allocate(64_KiB, 4096), nullptr);
}

TEST(arena, asks_for_less_when_upstream_has_less) {
    raw_storage storage{3000};
    acre::buffer below{storage.span()};
    acre::arena tested{below};
    EXPECT_NE(tested.try_allocate(500), nullptr);
    EXPECT_NE(tested.try_allocate(1900), nullptr);
    EXPECT_EQ(tested.try_allocate(2000), nullptr);
}

// Of a buffer, little is lost but the header of each block (24 bytes) and, at the end, what is too small for another.
// Builds that poison have redzones, too.
TEST(arena, a_buffer_below_is_used_up) {
    if (acre::redzone_bytes != 0) GTEST_SKIP() << "the redzones are most of the buffer";
    for (const std::size_t size : {8u, 40u}) {
        for (std::size_t bytes = 100; bytes <= 100'000; bytes += bytes < 10'000 ? 52 : 1004) {
            raw_storage storage{bytes};
            acre::buffer below{storage.span()};
            acre::arena tested{below};
            std::size_t served = 0;
            while (tested.try_allocate(size, 8) != nullptr) served += size;
            const std::size_t percent = bytes < 1000 ? 35 : bytes < 4000 ? 85 : 93;
            EXPECT_GE(served * 100, bytes * percent) << size << " of " << bytes;
            EXPECT_LE(tested.capacity(), bytes);
        }
    }
}

TEST(arena, the_last_block_is_what_the_limit_leaves) {
    checking_upstream upstream;
    acre::arena tested{{.limit_bytes = 10'004}, upstream};
    while (tested.try_allocate(24) != nullptr) continue;
    EXPECT_EQ(upstream.sizes(), (sizes{4_KiB, 5904}));
    EXPECT_EQ(tested.capacity(), 10'000u);
}

// As of an inline arena in a fallback: the arena is asked each time.
TEST(arena, an_upstream_without_memory_is_asked_once_a_request) {
    acre::statistics<acre::no_memory> below;
    acre::arena tested{below};
    EXPECT_EQ(tested.try_allocate(24), nullptr);
    const auto refused = below.counts().failures;
    EXPECT_LE(refused, 40u);
    EXPECT_EQ(tested.try_allocate(24), nullptr);
    EXPECT_EQ(below.counts().failures, refused + 1);
}

TEST(arena, what_remains_fits_without_an_upstream_call) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    EXPECT_EQ(tested.remaining(), 0u);
    (void)tested.allocate(100);
    const std::size_t left = tested.remaining();
    EXPECT_EQ(tested.try_allocate_from_block(left + 1, 8), nullptr);
    EXPECT_EQ(left, tested.capacity() - tested.used() - tested.wasted() - acre::redzone_bytes);
    EXPECT_NE(tested.try_allocate_from_block(left, 8), nullptr);
    EXPECT_EQ(tested.remaining(), 0u);
    EXPECT_EQ(upstream.sizes().size(), 1u);
    (void)tested.allocate(1);
    EXPECT_EQ(upstream.sizes().size(), 2u);
    tested.reset(acre::release);
    EXPECT_EQ(tested.remaining(), 0u);
}

// If each frame does the same work, no frame after the first calls upstream.
TEST(arena, a_thousand_frames_after_the_first_take_nothing) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    std::size_t after_first = 0;
    for (int frame = 0; frame < 1000; ++frame) {
        std::mt19937 random{1};
        for (int i = 0; i < 60; ++i) {
            (void)tested.allocate(random() % 3000, std::size_t{1} << random() % 7);
            if (i % 20 == 0) (void)tested.allocate(300'000 + 100'000 * (random() % 3));
        }
        tested.reset();
        if (frame == 0) after_first = upstream.requests();
    }
    EXPECT_EQ(upstream.requests(), after_first);
}

// Hazard X14.
TEST(arena, frames_that_vary_reach_a_bound) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    std::mt19937 random{2};
    std::size_t held_halfway = 0;
    for (int frame = 0; frame < 400; ++frame) {
        for (int i = 0; i < 30; ++i) (void)tested.allocate(random() % 10'000);
        if (random() % 8 == 0) (void)tested.allocate(400'000 + random() % 400'000);
        tested.reset();
        if (frame == 200) held_halfway = upstream.live_bytes();
    }
    EXPECT_LE(upstream.live_bytes(), held_halfway + 1_MiB);
}

TEST(arena, limit_bytes_is_exact) {
    for (const std::size_t limit : {64u, 200u, 4096u, 5000u, 100'000u}) {
        checking_upstream upstream;
        acre::arena tested{{.first_block_bytes = 64, .limit_bytes = limit}, upstream};
        while (tested.try_allocate(24) != nullptr) EXPECT_LE(tested.capacity(), limit);
        EXPECT_LE(upstream.peak_bytes(), limit);
        EXPECT_GT(upstream.peak_bytes() + 64 + acre::redzone_bytes, limit) << "what was left of the limit was not used";
        EXPECT_EQ(outcome_of([&] { return tested.allocate(24); }), outcome::limit_exceeded);
    }
}

TEST(arena, a_limit_does_not_stop_an_empty_arena) {
    // After a reset all blocks are spare. They must not make a request fail that is within the limit.
    checking_upstream upstream;
    acre::arena tested{{.limit_bytes = 64_KiB}, upstream};
    while (tested.try_allocate(1000) != nullptr) continue;
    tested.reset();
    EXPECT_NE(tested.try_allocate(50'000), nullptr);
    EXPECT_LE(upstream.peak_bytes(), 64_KiB);
}

TEST(arena, the_limit_names_its_numbers) {
    acre::arena tested{{.limit_bytes = 8_KiB}};
    (void)tested.allocate(100);
    try {
        (void)tested.allocate(10'000);
        FAIL() << "served beyond the limit";
    } catch (const acre::limit_exceeded& error) {
        EXPECT_EQ(error.bytes_available(), 4_KiB);
        EXPECT_GE(error.bytes_needed(), 10'000u);
        EXPECT_STREQ(error.resource(), "acre::arena");
    }
}

TEST(arena, options_out_of_range_are_refused) {
    EXPECT_THROW(acre::arena({.first_block_bytes = 23}), acre::bad_option);
    EXPECT_THROW(acre::arena({.first_block_bytes = SIZE_MAX}), acre::bad_option);
    try {
        acre::arena refused{{.first_block_bytes = SIZE_MAX}};
        ADD_FAILURE();
    } catch (const acre::bad_option& error) {
        EXPECT_NE(std::string{error.what()}.find(".first_block_bytes"), std::string::npos) << error.what();
    }
    EXPECT_THROW(acre::arena({.first_block_bytes = 4096, .max_block_bytes = 4095}), acre::bad_option);
    EXPECT_THROW(acre::arena({.max_block_bytes = SIZE_MAX}), acre::bad_option);
    try {
        acre::arena refused{{.max_block_bytes = 1}};
        ADD_FAILURE();
    } catch (const acre::bad_option& error) {
        EXPECT_NE(std::string{error.what()}.find(".max_block_bytes = 1;"), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW(acre::arena({.first_block_bytes = 4096, .max_block_bytes = 4096}));
}

// The default of one option must fit any value of the other.
TEST(arena, options_left_out_follow_those_given) {
    EXPECT_EQ(acre::arena_options{}.completed().first_block_bytes, 4_KiB);
    EXPECT_EQ(acre::arena_options{}.completed().max_block_bytes, 1_MiB);
    checking_upstream upstream;
    acre::arena large{{.first_block_bytes = 2_MiB}, upstream};
    acre::arena small{{.max_block_bytes = 1_KiB}, upstream};
    (void)large.allocate(1);
    EXPECT_EQ(upstream.sizes().back(), 2_MiB);
    for (int i = 0; i < 100; ++i) (void)small.allocate(100);
    EXPECT_EQ(upstream.sizes().back(), 1_KiB);
}

// Hazard X13: one block of required_bytes() holds all allocations, and one of 8 bytes less does not.
TEST(arena, required_bytes_are_exact) {
    const std::size_t header = acre::arena::required_bytes(1, 8, 8) - 8;
    for (const std::size_t alignment : {1u, 8u, 16u, 32u, 256u}) {
        for (const std::size_t size : {0u, 1u, 8u, 13u, 16u, 40u, 1000u}) {
            for (const std::size_t count : {1u, 2u, 10u, 100u}) {
                const std::size_t bytes = acre::arena::required_bytes(count, size, alignment);
                SCOPED_TRACE(testing::Message() << count << " x " << size << " aligned to " << alignment);
                // The worst address that upstream may return: what follows the header is aligned to as little as may
                // be.
                raw_storage storage{bytes + 1024 + 16};
                const std::size_t beyond = (header - 1) % acre::default_alignment + 1;
                const auto place = storage.span().subspan(1024 + beyond - header, bytes);
                {
                    acre::buffer exact{place};
                    acre::arena fits{{.first_block_bytes = bytes}, exact};
                    for (std::size_t i = 0; i < count; ++i) ASSERT_NE(fits.try_allocate(size, alignment), nullptr);
                }

                acre::buffer shorter{place.first(bytes - acre::arena::granule)};
                acre::arena lacks{{.first_block_bytes = std::max<std::size_t>(bytes - 8, 32)}, shorter};
                std::size_t served = 0;
                while (served < count && lacks.try_allocate(size, alignment) != nullptr) ++served;
                EXPECT_TRUE(acre::poisoning || served == count - 1) << served;
            }
        }
    }
}

// Hazard M13: a size that overflows must not become a small one.
TEST(arena, required_bytes_do_not_wrap) {
    EXPECT_GE(acre::arena::required_bytes(SIZE_MAX / 8, 16, 8), SIZE_MAX / 2);
    EXPECT_GE(acre::arena::required_bytes(acre_test::root_of_all, acre_test::root_of_all, 8), SIZE_MAX / 2);
}

TEST(fixed_arena, has_exactly_its_bytes_from_the_start) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    for (const std::size_t bytes : {8u, 1000u, 4096u, 1u << 20}) {
        checking_upstream below;
        {
            acre::arena fixed{{.fixed_bytes = bytes}, below};
            EXPECT_EQ(below.requests(), 1u);
            EXPECT_EQ(fixed.remaining(), bytes);
            EXPECT_EQ(fixed.capacity(), below.live_bytes());
            for (int round = 0; round < 2; ++round) {
                void* all = fixed.allocate(bytes);
                std::memset(all, 'x', bytes);
                EXPECT_EQ(fixed.remaining(), 0u);
                EXPECT_TRUE(fixed.owns(all));
                EXPECT_EQ(fixed.try_allocate(1), nullptr);
                fixed.reset(round == 0 ? acre::keep(bytes) : acre::keep_all);
                EXPECT_EQ(fixed.remaining(), bytes);
            }
            const auto begin = fixed.mark();
            void* part = fixed.allocate(8);
            EXPECT_TRUE(fixed.try_resize(part, 8, bytes));
            fixed.rewind(begin);
            EXPECT_EQ(fixed.used(), 0u);
        }
        EXPECT_EQ(below.requests(), 1u);
        EXPECT_EQ(below.live_blocks(), 0u);
    }
}

TEST(fixed_arena, takes_its_bytes_anew_after_a_release) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    checking_upstream below;
    acre::arena fixed{{.fixed_bytes = 1000}, below};
    (void)fixed.create<std::string>("text");
    fixed.reset(acre::release);
    EXPECT_EQ(below.live_blocks(), 0u);
    EXPECT_EQ(fixed.capacity() + fixed.remaining() + fixed.used(), 0u);
    EXPECT_EQ(fixed.try_allocate(1001), nullptr);
    EXPECT_EQ(below.live_blocks(), 0u);
    {
        acre::scratch temp{fixed};
        EXPECT_NE(temp.allocate(1000), nullptr);
    }
    EXPECT_EQ(fixed.remaining(), 1000u);
    fixed.reset(acre::keep(999));
    EXPECT_EQ(below.live_blocks(), 0u);
    below.fail_at(1);
    EXPECT_THROW((void)fixed.allocate(8), acre::out_of_memory);
    EXPECT_EQ(fixed.remaining(), 0u);
    EXPECT_NE(fixed.allocate(8), nullptr);
    EXPECT_EQ(fixed.remaining(), 992u);
}

TEST(fixed_arena, says_what_does_not_fit) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::arena fixed{{.fixed_bytes = 1000}};
    try {
        (void)fixed.allocate(1001);
        FAIL();
    } catch (const acre::request_too_large& error) {
        EXPECT_EQ(error.bytes_available(), 1000u);
    }
    (void)fixed.allocate(600);
    try {
        (void)fixed.allocate(500);
        FAIL();
    } catch (const acre::limit_exceeded& error) {
        EXPECT_EQ(error.bytes_available(), 400u);
    }
    EXPECT_THROW((void)fixed.create_array<std::string>(1000), acre::request_too_large);
    EXPECT_EQ(fixed.remaining(), 400u);
}

TEST(fixed_arena, works_inside_everything_that_takes_options) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::pmr<acre::arena> memory{{.fixed_bytes = 1000}};
    acre::synchronized<acre::statistics<acre::arena>> counted{{.fixed_bytes = 1000}};
    EXPECT_EQ(memory->remaining() + counted.remaining(), 2000u);
    EXPECT_THROW((void)memory.allocate(2000), acre::request_too_large);
}

TEST(fixed_arena, refuses_other_options_and_an_upstream_that_has_too_little) {
    EXPECT_THROW((acre::arena{{.limit_bytes = 100, .fixed_bytes = 100}}), acre::bad_option);
    EXPECT_THROW((acre::arena{{.first_block_bytes = 100, .fixed_bytes = 100}}), acre::bad_option);
    EXPECT_THROW((acre::arena{{.fixed_bytes = SIZE_MAX}}), acre::bad_option);
    EXPECT_THROW((acre::inline_arena<64>{{.fixed_bytes = 100}}), acre::bad_option);
    checking_upstream below;
    below.fail_from(0);
    EXPECT_THROW((acre::arena{{.fixed_bytes = 100}, below}), acre::out_of_memory);
}

TEST(arena, storage_for_one_object) {
    acre::arena level;
    double* one = level.allocate<double>();
    *one = 2;
    EXPECT_TRUE(level.owns(one));
    EXPECT_EQ(level.used(), sizeof(double) + acre::redzone_bytes);
    EXPECT_NE(level.try_allocate<int>(), nullptr);
    acre::scratch temp{level};
    *temp.allocate<int>() = 3;
    acre::arena none{acre::no_memory{}};
    EXPECT_EQ(none.try_allocate<int>(), nullptr);
}

}  // namespace
