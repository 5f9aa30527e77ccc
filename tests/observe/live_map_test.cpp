// acre::live_map by itself.
#include <acre/observe/live_map.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "conformance/checking_upstream.hpp"
#include "observe/written.hpp"

namespace {

using acre::live_map;
using acre_test::checking_upstream;
using acre_test::written;

std::array<char, 4096> storage;

TEST(live_map, example) {
    void* p = storage.data();
    acre::live_map live;
    live.add(p, 100);
    EXPECT_EQ(written([&](std::FILE* to) { live.report(to, "sessions"); }).rfind("sessions: 1 allocations of 100", 0),
              0u);
    live.remove(p);
    EXPECT_EQ(live.size(), 0u);
}

TEST(live_map, knows_what_is_live_oldest_first) {
    live_map tested;
    for (std::size_t i = 0; i < 100; ++i) tested.add(&storage[(i * 37) % 100], i);
    for (std::size_t i = 0; i < 100; i += 2) tested.remove(&storage[(i * 37) % 100]);
    const auto live = tested.allocations();
    ASSERT_EQ(live.size(), 50u);
    for (std::size_t i = 0; i < live.size(); ++i) {
        EXPECT_EQ(live[i].bytes, 2 * i + 1);
        EXPECT_EQ(live[i].number, 2 * i + 1);
        EXPECT_EQ(live[i].address, &storage[((2 * i + 1) * 37) % 100]);
    }
    EXPECT_EQ(tested.bytes_at(live[3].address), 7u);
    EXPECT_EQ(tested.bytes_at(&storage[200]), std::nullopt);
    tested.resize(live[3].address, 70);
    EXPECT_EQ(tested.bytes_at(live[3].address), 70u);
}

TEST(live_map, goes_back_to_a_number) {
    live_map tested;
    for (std::size_t i = 0; i < 1'000; ++i) {
        if (i == 400) tested.remove(&storage[7]);
        tested.add(&storage[i], 2);
    }
    const live_map::amount removed = tested.remove_from(400);
    EXPECT_EQ(removed.count, 600u);
    EXPECT_EQ(removed.bytes, 1'200u);
    EXPECT_EQ(tested.size(), 399u);
    EXPECT_EQ(tested.bytes_at(&storage[399]), 2u);
    EXPECT_EQ(tested.bytes_at(&storage[400]), std::nullopt);
}

TEST(live_map, reports_addresses_and_sizes_oldest_first) {
    live_map tested;
    EXPECT_EQ(written([&](std::FILE* to) { EXPECT_EQ(tested.report(to, "x"), 0u); }), "");
    tested.add(&storage[50], 100);
    tested.add(&storage[10], 20);
    char expected[256];
    std::snprintf(expected, sizeof expected,
                  "x: 2 allocations of 120 bytes are still live\n"
                  "  %p  100 bytes, allocation 0\n"
                  "  %p  20 bytes, allocation 1\n",
                  static_cast<void*>(&storage[50]), static_cast<void*>(&storage[10]));
    EXPECT_EQ(written([&](std::FILE* to) { EXPECT_EQ(tested.report(to, "x"), 2u); }), expected);
}

TEST(live_map, reports_without_memory_too) {
    checking_upstream below;
    live_map tested{below};
    tested.add(&storage[0], 100);
    below.fail_from(1);
    for (std::size_t i = 1; i < 100; ++i) tested.add(&storage[i], 1);
    EXPECT_GT(tested.unrecorded(), 0u);
    EXPECT_EQ(tested.size() + tested.unrecorded(), 100u);
    const std::string text = written([&](std::FILE* to) { tested.report(to, "x"); });
    EXPECT_NE(text.find("  100 bytes, allocation 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("and " + std::to_string(tested.unrecorded()) + " more"), std::string::npos) << text;
    for (std::size_t i = 0; i < 100; ++i) tested.remove(&storage[i]);
    EXPECT_EQ(tested.size() + tested.unrecorded(), 0u);
}

TEST(live_map, moves) {
    live_map first;
    first.add(&storage[0], 10);
    live_map second{std::move(first)};
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.bytes_at(&storage[0]), 10u);
    first.add(&storage[1], 20);
    second = std::move(first);
    EXPECT_EQ(second.size(), 1u);
    EXPECT_EQ(second.bytes_at(&storage[1]), 20u);
}

}  // namespace
