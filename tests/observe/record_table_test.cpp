// The hash table of the statistics against a std::map.
#include <acre/arenas/multi_arena.hpp>
#include <acre/observe/detail/record_table.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "conformance/checking_upstream.hpp"

namespace {

using acre::detail::record_table;
using acre_test::checking_upstream;

template <class Table>
std::map<std::size_t, int> contents(const Table& table) {
    std::map<std::size_t, int> all;
    table.for_each([&](std::size_t key, int value) { EXPECT_TRUE(all.emplace(key, value).second) << "twice"; });
    EXPECT_EQ(all.size(), table.size());
    return all;
}

void work_as_a_map(record_table<int>& tested, std::size_t keys) {
    std::map<std::size_t, int> reference;
    std::mt19937 random{3};
    for (int i = 0; i < 20'000; ++i) {
        // Adjacent keys collide, as addresses and sizes do.
        const std::size_t key = (random() % keys) * 16;
        switch (random() % 4) {
            case 0:
                EXPECT_EQ(tested.erase(key), reference.erase(key) == 1);
                break;
            case 1: {
                const int* found = tested.find(key);
                const auto expected = reference.find(key);
                ASSERT_EQ(found != nullptr, expected != reference.end());
                if (found != nullptr) {
                    EXPECT_EQ(*found, expected->second);
                }
                break;
            }
            default:
                *tested.insert(key) = reference[key] = i;
        }
        if (i % 1'000 == 999) {
            EXPECT_EQ(contents(tested), reference);
            const auto odd = [](int value) { return value % 2 != 0; };
            tested.erase_if(odd);
            std::erase_if(reference, [&](const auto& each) { return odd(each.second); });
            EXPECT_EQ(contents(tested), reference);
        }
    }
}

TEST(record_table, agrees_with_a_map_over_random_work) {
    for (const std::size_t keys : {20u, 100u, 5'000u}) {
        checking_upstream below;
        record_table<int> tested{below};
        work_as_a_map(tested, keys);
    }
}

// Row of docs/porting.md: the records of statistics in a multi_arena.
TEST(record_table, agrees_with_a_map_where_upstream_has_small_pieces_only) {
    for (const std::size_t bytes : {64u, 1'024u}) {
        acre::multi_arena below{{.arenas = 6'000, .bytes = bytes}};
        {
            record_table<int> tested{below};
            work_as_a_map(tested, 5'000);
            const record_table<int> copied{tested};
            EXPECT_EQ(contents(copied), contents(tested));
            tested.clear();
            EXPECT_EQ(tested.size(), 0u);
        }
        EXPECT_EQ(below.allocations(), 0u);
    }
}

TEST(record_table, keeps_what_it_has_when_upstream_has_no_memory) {
    checking_upstream below;
    record_table<int> tested{below};
    below.fail_from(1);
    EXPECT_EQ(tested.insert(1), nullptr);
    EXPECT_EQ(tested.find(1), nullptr);
    EXPECT_FALSE(tested.erase(1));
    below.recover();
    EXPECT_NE(tested.insert(0), nullptr);
    below.fail_from(1);
    std::size_t kept = 1;
    while (kept < 1'000 && tested.insert(kept) != nullptr) ++kept;
    EXPECT_LT(kept, 1'000u);
    EXPECT_EQ(tested.size(), kept);
    EXPECT_NE(tested.insert(kept - 1), nullptr) << "what is there needs no memory";
    EXPECT_EQ(tested.find(kept), nullptr);
    below.recover();
    EXPECT_NE(tested.insert(kept), nullptr);
    EXPECT_EQ(tested.size(), kept + 1);
    for (std::size_t key = 0; key <= kept; ++key) EXPECT_NE(tested.find(key), nullptr);
}

TEST(record_table, nearly_all_of_a_sparse_table_are_found_at_home) {
    checking_upstream below;
    record_table<std::size_t, 2> tested{below};
    EXPECT_EQ(tested.find_at_home(7), nullptr);
    std::size_t at_home = 0;
    // Slots of 96 bytes in slabs with a header, in steps of 16 bytes.
    const auto key = [](std::size_t i) { return i / 170 * 1024 + 5 + i % 170 * 6; };
    for (std::size_t i = 0; i < 1'500; ++i) *tested.insert(key(i)) = i;
    for (std::size_t i = 0; i < 1'500; ++i) {
        const std::size_t* found = tested.find_at_home(key(i));
        if (found == nullptr) continue;
        EXPECT_EQ(*found, i);
        ++at_home;
    }
    EXPECT_GT(at_home, 1'300u);
    EXPECT_EQ(tested.find_at_home(4), nullptr);
}

TEST(record_table, clears_and_moves) {
    checking_upstream below;
    record_table<int> first{below};
    for (std::size_t key = 0; key < 100; ++key) *first.insert(key) = 1;
    record_table<int> second{std::move(first)};
    EXPECT_EQ(first.size(), 0u);
    EXPECT_EQ(second.size(), 100u);
    first = std::move(second);
    const std::size_t requests = below.requests();
    first.clear();
    EXPECT_TRUE(contents(first).empty());
    for (std::size_t key = 0; key < 100; ++key) EXPECT_EQ(*first.insert(key), 0);
    EXPECT_EQ(below.requests(), requests) << "the memory was kept";
}

}  // namespace
