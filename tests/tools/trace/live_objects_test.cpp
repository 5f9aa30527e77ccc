// The live objects and their neighbours against lists that are searched, over random operations.
#include "trace/live_objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using acre::tool::live_objects;

struct plain_object {
    std::uint64_t number;
    std::uint64_t size;
    std::uint32_t site;
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
    for (std::uint64_t number = 0; number < 20'000; ++number) {
        const plain_object born{
            .number = number, .size = random() % 1000, .site = static_cast<std::uint32_t>(random() % 5)};
        objects.insert(born.number, born.size, born.site);
        expected.push_back(born);
        // Grows to about a hundred, then shrinks to nothing, again and again.
        while (!expected.empty() && random() % 200 < (number % 400 < 200 ? 80 : 120)) {
            const auto gone = expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
            const auto back = std::make_reverse_iterator(gone);
            const auto any = [](const plain_object&) { return true; };
            const auto of_site = [&](const plain_object& other) { return other.site == gone->site; };
            std::uint64_t size = 0;
            live_objects::neighbours stood_between;
            ASSERT_TRUE(objects.take(gone->number, size, stood_between));
            ASSERT_EQ(size, gone->size);
            ASSERT_EQ(stood_between.newer, first_of(gone + 1, expected.end(), any));
            ASSERT_EQ(stood_between.older, first_of(back, expected.rend(), any));
            ASSERT_EQ(stood_between.newer_of_site, first_of(gone + 1, expected.end(), of_site));
            ASSERT_EQ(stood_between.older_of_site, first_of(back, expected.rend(), of_site));
            ASSERT_FALSE(objects.take(gone->number, size, stood_between));
            expected.erase(gone);
        }
        ASSERT_EQ(objects.size(), expected.size());
        ASSERT_EQ(objects.newest(), expected.empty() ? live_objects::none : expected.back().number);
    }
}

TEST(live_objects, none_is_not_one) {
    live_objects objects{1};
    std::uint64_t size = 0;
    live_objects::neighbours stood_between;
    EXPECT_EQ(objects.newest(), live_objects::none);
    EXPECT_FALSE(objects.take(live_objects::none, size, stood_between));
    objects.insert(3, 8, 0);
    EXPECT_FALSE(objects.take(live_objects::none, size, stood_between));
}

}  // namespace
