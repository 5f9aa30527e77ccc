// A list that continues in a file when it grows long.
#include "trace/spooled_list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using acre::tool::spooled_list;

std::vector<std::uint32_t> contents(const spooled_list<std::uint32_t>& list) {
    std::vector<std::uint32_t> all;
    list.for_each([&](std::uint32_t each) { all.push_back(each); });
    return all;
}

TEST(spooled_list, has_its_elements_in_order_in_memory_and_in_a_file) {
    for (const std::uint32_t count : {0U, 1U, 65'536U, 65'537U, 500'000U}) {
        spooled_list<std::uint32_t> in_memory;
        spooled_list<std::uint32_t> in_file{1};
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < count; ++i) {
            expected.push_back(i * 7);
            in_memory.push(i * 7);
            in_file.push(i * 7);
        }
        EXPECT_TRUE(in_memory.is_in_memory());
        EXPECT_EQ(in_file.is_in_memory(), count <= 65'536);
        EXPECT_EQ(in_file.size(), count);
        EXPECT_EQ(contents(in_memory), expected);
        EXPECT_EQ(contents(in_file), expected);
        EXPECT_EQ(contents(in_file), expected) << "the second time";
    }
}

TEST(spooled_list, ends_when_the_visitor_returns_false) {
    spooled_list<std::uint32_t> in_memory;
    spooled_list<std::uint32_t> in_file{1};
    for (std::uint32_t i = 0; i < 300'000; ++i) {
        in_memory.push(i);
        in_file.push(i);
    }
    for (const spooled_list<std::uint32_t>* list : {&in_memory, &in_file}) {
        for (const std::uint32_t last : {0U, 10U, 65'535U, 65'536U, 299'999U}) {
            std::uint32_t visited = 0;
            list->for_each([&](std::uint32_t each) {
                ++visited;
                return each != last;
            });
            EXPECT_EQ(visited, last + 1);
        }
    }
}

}  // namespace
