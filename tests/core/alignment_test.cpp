// Alignment arithmetic and size literals: exact, constexpr and without wrapping.
#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <acre/core/literals.hpp>
#include <cstdint>
#include <limits>

#include "sizes.hpp"

namespace {

// The examples of the headers.
static_assert(acre::align_up(13, 8) == 16);
static_assert(!acre::array_bytes(SIZE_MAX, 8));
using namespace acre::literals;
static_assert(64_KiB == 65536);
static_assert(1_MiB == 1048576 && 2_GiB == std::size_t{1} << 31);

TEST(alignment, only_powers_of_two_are_alignments) {
    for (int shift = 0; shift < std::numeric_limits<std::size_t>::digits; ++shift)
        EXPECT_TRUE(acre::is_alignment(std::size_t{1} << shift));
    for (const std::size_t each : {0u, 3u, 5u, 6u, 7u, 12u, 4095u}) EXPECT_FALSE(acre::is_alignment(each));
    EXPECT_FALSE(acre::is_alignment(SIZE_MAX));
}

TEST(alignment, up_down_and_padding_agree) {
    for (std::uintptr_t value = 0; value < 300; ++value) {
        for (std::size_t alignment = 1; alignment <= 128; alignment *= 2) {
            std::uintptr_t expected = value;
            while (expected % alignment != 0) ++expected;
            EXPECT_EQ(acre::align_up(value, alignment), expected);
            EXPECT_EQ(acre::padding_to(value, alignment), expected - value);
            EXPECT_EQ(acre::align_down(value, alignment), value / alignment * alignment);
        }
    }
    EXPECT_EQ(acre::padding_to(UINTPTR_MAX, acre_test::half_of_all), acre_test::half_of_all - (SIZE_MAX >> 1));
}

// Hazard B6.
TEST(alignment, products_that_do_not_fit_are_empty) {
    EXPECT_EQ(acre::array_bytes(0, 8), 0u);
    EXPECT_EQ(acre::array_bytes(8, 0), 0u);
    EXPECT_EQ(acre::array_bytes(7, 9), 63u);
    EXPECT_EQ(acre::array_bytes(acre::max_request / 8, 8), acre::max_request / 8 * 8);
    EXPECT_FALSE(acre::array_bytes(acre::max_request / 8 + 1, 8));
    EXPECT_FALSE(acre::array_bytes(SIZE_MAX / 8 + 2, 8));
    EXPECT_FALSE(acre::array_bytes(SIZE_MAX, SIZE_MAX));
}

}  // namespace
