// The table of what lies at which address agrees with a map, for dense heaps and for addresses far apart.
#include "record/live_addresses.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace acre::tool {
namespace {

/// Runs random calls of both, with addresses that `draw` makes.
template <typename Draw>
void expect_like_a_map(std::uint64_t calls, Draw&& draw) {
    std::mt19937_64 random{11};
    live_addresses table;
    std::unordered_map<std::uint64_t, std::uint32_t> map;
    for (std::uint64_t i = 1; i <= calls; ++i) {
        const std::uint64_t address = draw(random, i);
        // Grows and shrinks in turns.
        const bool adds = random() % 8 < (i % 20'000 < 10'000 ? 6U : 2U);
        const auto found = map.find(address);
        const std::uint32_t expected = found == map.end() ? live_addresses::none : found->second;
        table.prefetch(address);
        table.prefetch_value(address);
        if (adds) {
            ASSERT_EQ(table.exchange(address, static_cast<std::uint32_t>(i)), expected);
            map[address] = static_cast<std::uint32_t>(i);
        } else {
            ASSERT_EQ(table.take(address), expected);
            map.erase(address);
        }
    }
    for (const auto& [address, value] : map) ASSERT_EQ(table.take(address), value);
    for (const auto& [address, value] : map) ASSERT_EQ(table.take(address), live_addresses::none);
}

TEST(live_addresses, agree_with_a_map_for_a_dense_heap) {
    expect_like_a_map(400'000, [](auto& random, std::uint64_t) { return 0x5555'0000'0000 + random() % 20'000 * 16; });
}

TEST(live_addresses, agree_with_a_map_for_blocks_of_eight_bytes) {
    expect_like_a_map(400'000, [](auto& random, std::uint64_t) { return 0x7f00'0000'0000 + random() % 20'000 * 8; });
}

TEST(live_addresses, agree_with_a_map_for_addresses_far_apart_and_of_any_value) {
    expect_like_a_map(100'000, [](auto& random, std::uint64_t) { return random() % 5'000 * 0x0003'1234'5677; });
}

TEST(live_addresses, agree_with_a_map_for_a_heap_that_moves_on) {
    expect_like_a_map(400'000,
                      [](auto& random, std::uint64_t i) { return 0x5555'0000'0000 + (i / 4 + random() % 500) * 64; });
}

TEST(live_addresses, find_nothing_in_an_empty_table) {
    live_addresses table;
    table.prefetch(16);
    table.prefetch_value(16);
    EXPECT_EQ(table.take(16), live_addresses::none);
}

}  // namespace
}  // namespace acre::tool
