// Hazards of docs/hazards.md about arenas that no other file tests.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/buffer.hpp>
#include <memory>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "sizes.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;

struct alignas(64) wide {
    char bytes[64];
};

// Hazard A1.
TEST(arena, over_aligned_in_every_arena) {
    std::vector<std::unique_ptr<acre::arena>> arenas;
    for (int i = 0; i < 64; ++i) {
        auto& tested = *arenas.emplace_back(std::make_unique<acre::arena>());
        (void)tested.allocate(static_cast<std::size_t>(i));
        EXPECT_TRUE(acre::is_aligned(tested.create<wide>(), 64));
    }
}

// The same with constant sizes and alignments, for which there is a separate path.
// Hazard A1.
TEST(arena, over_aligned_with_constant_sizes) {
    acre::arena tested;
    for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(acre::is_aligned(tested.allocate(1, 1), 1));
        EXPECT_TRUE(acre::is_aligned(tested.allocate(24, 16), 16));
        EXPECT_TRUE(acre::is_aligned(tested.allocate(8, 256), 256));
        EXPECT_TRUE(acre::is_aligned(tested.allocate(0, 4096), 4096));
        EXPECT_TRUE(acre::is_aligned(tested.allocate(5000, 8192), 8192));
    }
}

// Hazard B3.
TEST(arena, types_of_every_alignment) {
    struct alignas(32) a32 {
        int value;
    };
    struct alignas(4096) a4096 {
        int value;
    };
    acre::arena tested;
    for (int i = 0; i < 20; ++i) {
        (void)tested.allocate(1, 1);
        EXPECT_TRUE(acre::is_aligned(tested.create<a32>(), 32));
        EXPECT_TRUE(acre::is_aligned(tested.create<a4096>(), 4096));
        EXPECT_TRUE(acre::is_aligned(tested.allocate<a32>(3).data(), 32));
    }
}

// Hazards B5, A9.
TEST(arena, zero_sizes_have_distinct_addresses) {
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 64}};
    const void* before = nullptr;
    for (int i = 0; i < 100; ++i) {
        const void* now = tested.allocate(0, 1);
        EXPECT_NE(now, before);
        EXPECT_TRUE(tested.owns(now)) << "one past the end";
        before = now;
    }
}

// Hazard A8.
TEST(arena, a_vector_grows_in_place) {
    acre::arena level;
    auto* p = static_cast<int*>(level.allocate(sizeof(int), alignof(int)));
    for (std::size_t count = 1; count < 900; ++count) {
        ASSERT_TRUE(level.try_resize(p, count * sizeof(int), (count + 1) * sizeof(int)));
    }
    EXPECT_LT(level.used(), 900 * sizeof(int) * 12 / 10);
}

// Hazard A12.
TEST(arena, a_request_that_fails_uses_nothing) {
    alignas(16) std::byte storage[256];
    acre::buffer small{storage};
    acre::arena tested{{.first_block_bytes = 256, .max_block_bytes = 256}, small};
    (void)tested.allocate(16);
    const std::size_t used = tested.used();
    struct large {
        ~large() {}
        char bytes[300];
    };
    EXPECT_THROW(tested.create<large>(), acre::out_of_memory);
    EXPECT_THROW(tested.create_array<large>(2), acre::out_of_memory);
    EXPECT_EQ(tested.used(), used);
}

// Hazard M1.
TEST(arena, more_than_four_gibibytes_do_not_wrap) {
    alignas(16) std::byte storage[4096];
    acre::buffer small{storage};
    acre::arena tested{small};
    EXPECT_THROW((void)tested.allocate(acre_test::beyond_32_bits), acre::allocation_error);
    EXPECT_EQ(tested.try_allocate(acre_test::beyond_32_bits), nullptr);
}

// Upstream may return storage at any address.
// Hazard M6.
TEST(arena, over_a_buffer_that_begins_anywhere) {
    alignas(64) static std::byte storage[8192];
    for (std::size_t bite = 0; bite < 20; ++bite) {
        acre::buffer odd{std::span<std::byte>{storage}.subspan(bite)};
        (void)odd.allocate(1, 1);
        acre::arena tested{odd};
        EXPECT_TRUE(acre::is_aligned(tested.allocate(16, 4), 4));
        EXPECT_TRUE(acre::is_aligned(tested.allocate(16, 64), 64));
    }
}

// Hazard X4.
TEST(arena, requests_after_a_release_are_served_from_fresh_blocks) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    for (int i = 0; i < 50; ++i) {
        for (const std::size_t bytes : {8u, 5000u, 900'000u}) {
            auto* p = static_cast<char*>(tested.allocate(bytes));
            p[0] = 1;
            p[bytes - 1] = 1;
        }
        tested.reset(acre::release);
        EXPECT_EQ(upstream.live_blocks(), 0u);
    }
}

}  // namespace
