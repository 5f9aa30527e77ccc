// The tables of live objects find, remove and link what lives.
#include "trace/live_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace {

using acre::tool::live_array;
using acre::tool::live_objects;
using acre::tool::live_table;
using acre::tool::probing_slots;

TEST(live_table, agrees_with_a_map) {
    std::mt19937_64 random{5};
    live_table<std::uint64_t> table;
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t object = 0; object < 200'000; ++object) {
        table.insert(object, object * 3);
        expected.emplace(object, object * 3);
        // Grows to about a hundred and shrinks to zero, repeatedly.
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

TEST(live_table, finds_numbers_far_apart_between_long_rows) {
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

TEST(live_array, agrees_with_a_map) {
    std::mt19937_64 random{11};
    live_array<std::uint64_t> array;
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t round = 0; round < 20'000; ++round) {
        const std::uint64_t number = random() % 300;
        std::uint64_t value = 0;
        if (expected.contains(number)) {
            ASSERT_TRUE(array.take(number, value));
            ASSERT_EQ(value, expected[number]);
            expected.erase(number);
        } else {
            ASSERT_FALSE(array.take(number, value));
            array.insert(number, round);
            expected[number] = round;
        }
        ASSERT_EQ(array.size(), expected.size());
    }
    std::map<std::uint64_t, std::uint64_t> left;
    array.for_each([&](std::uint64_t number, std::uint64_t value) { left.emplace(number, value); });
    EXPECT_EQ(left, expected);
}

/// Keys that count the slots that a table looks at.
struct counting_keys {
    std::uint64_t& looks;

    bool is_empty(std::uint64_t slot) const noexcept {
        ++looks;
        return slot == 0;
    }
    std::uint64_t object(std::uint64_t slot) const noexcept { return slot - 1; }
};

/// Seeds for which a product of a number and the seed leaves numbers at equal distances close together.
TEST(probing_slots, no_seed_makes_long_rows_of_numbers_at_equal_distances) {
    constexpr std::uint64_t objects = 20'000;
    std::vector<std::uint64_t> seeds{
        0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} / 3, ~std::uint64_t{0} / 7};
    std::mt19937_64 random{7};
    for (int i = 0; i < 20; ++i) seeds.push_back(random());
    for (const std::uint64_t seed : seeds) {
        for (const std::uint64_t distance : {1U, 3U, 6U, 8U, 24U, 64U, 4096U}) {
            std::uint64_t looks = 0;
            const counting_keys keys{looks};
            probing_slots<std::uint64_t> slots{seed};
            for (std::uint64_t i = 0; i < objects; ++i) slots.insert(i * distance, i * distance + 1, keys);
            looks = 0;
            for (std::uint64_t i = 0; i < objects; ++i) ASSERT_NE(slots.find(i * distance, keys), nullptr);
            EXPECT_LT(looks, objects * 32) << seed << " " << distance;
        }
    }
}

struct plain_object {
    std::uint64_t number;
    std::uint64_t size;
    std::uint32_t site;
    std::uint32_t place = 0;
};

/// The neighbour in a direction that satisfies the condition, or none.
template <typename Iterator, typename Condition>
std::uint64_t first_of(Iterator from, Iterator to, Condition condition) {
    const Iterator found = std::find_if(from, to, condition);
    return found == to ? live_objects::none : found->number;
}

TEST(live_objects, agree_with_a_list) {
    std::mt19937_64 random{7};
    live_objects objects{5};
    std::vector<plain_object> expected;
    std::size_t most = 0;
    for (std::uint64_t number = 0; number < 20'000; ++number) {
        plain_object born{.number = number, .size = random() % 1000, .site = static_cast<std::uint32_t>(random() % 5)};
        born.place = objects.insert(born.number, born.size, born.site);
        for (const plain_object& each : expected) ASSERT_NE(each.place, born.place);
        expected.push_back(born);
        most = std::max(most, expected.size());
        ASSERT_LT(born.place, most) << "places are used again";
        // Grows to about a hundred and shrinks to zero, repeatedly.
        while (!expected.empty() && random() % 200 < (number % 400 < 200 ? 80 : 120)) {
            const auto gone = expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
            const auto back = std::make_reverse_iterator(gone);
            const auto any = [](const plain_object&) { return true; };
            const auto of_site = [&](const plain_object& other) { return other.site == gone->site; };
            const auto taken = objects.take(gone->number);
            ASSERT_TRUE(taken);
            ASSERT_EQ(taken->size, gone->size);
            ASSERT_EQ(taken->place, gone->place);
            ASSERT_EQ(taken->among.newer, first_of(gone + 1, expected.end(), any));
            ASSERT_EQ(taken->among.older, first_of(back, expected.rend(), any));
            ASSERT_EQ(taken->among.newer_of_site, first_of(gone + 1, expected.end(), of_site));
            ASSERT_EQ(taken->among.older_of_site, first_of(back, expected.rend(), of_site));
            ASSERT_FALSE(objects.take(gone->number));
            expected.erase(gone);
        }
        ASSERT_EQ(objects.size(), expected.size());
        ASSERT_EQ(objects.newest(), expected.empty() ? live_objects::none : expected.back().number);
    }
}

TEST(live_objects, none_is_not_one) {
    live_objects objects{1};
    EXPECT_EQ(objects.newest(), live_objects::none);
    EXPECT_FALSE(objects.take(live_objects::none));
    objects.insert(3, 8, 0);
    EXPECT_FALSE(objects.take(live_objects::none));
}

}  // namespace
