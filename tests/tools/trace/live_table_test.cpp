// The table of live objects against std::map, over random operations.
#include "trace/live_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace {

using acre::tool::live_table;

TEST(live_table, agrees_with_a_map) {
    std::mt19937_64 random{5};
    live_table<std::uint64_t> table;
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t object = 0; object < 200'000; ++object) {
        table.insert(object, object * 3);
        expected.emplace(object, object * 3);
        // Grows to about a hundred, then shrinks to nothing, again and again.
        while (!expected.empty() && random() % 200 < (object % 400 < 200 ? 80 : 120)) {
            auto gone = expected.lower_bound(random() % (object + 1));
            if (gone == expected.end()) gone = expected.begin();
            std::uint64_t value = 0;
            ASSERT_TRUE(table.take(gone->first, value));
            ASSERT_EQ(value, gone->second);
            ASSERT_FALSE(table.take(gone->first, value));
            ASSERT_EQ(table.find(gone->first), nullptr);
            expected.erase(gone);
        }
        ASSERT_EQ(table.size(), expected.size());
    }
    std::map<std::uint64_t, std::uint64_t> left;
    table.for_each([&](std::uint64_t object, std::uint64_t value) { left.emplace(object, value); });
    EXPECT_EQ(left, expected);
}

TEST(live_table, numbers_far_apart_are_found_beside_long_rows) {
    live_table<std::uint64_t> table;
    std::uint64_t value = 0;
    for (std::uint64_t object = 0; object < 300'000; ++object) {
        table.insert(object, object);
        if (object < 5000 || object % 1000 == 0) continue;
        ASSERT_TRUE(table.take(object - 5000, value));
    }
    EXPECT_EQ(table.size(), 5295U);
    std::uint64_t found = 0;
    table.for_each([&](std::uint64_t object, std::uint64_t each) { found += object == each ? 1 : 0; });
    EXPECT_EQ(found, table.size());
}

TEST(live_table, an_empty_one_finds_nothing) {
    live_table<int> table;
    int value = 0;
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_FALSE(table.take(0, value));
    EXPECT_EQ(table.size(), 0U);
}

}  // namespace
