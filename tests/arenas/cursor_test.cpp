// Cursors: the arena continues behind their allocations, new blocks are taken, and a failed request changes nothing.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "conformance/live_model.hpp"

namespace {

struct node {
    int value;
    node* next;
};

TEST(cursor, example) {
    acre::arena level;
    node* head = nullptr;
    {
        acre::cursor building{level};
        for (int i = 0; i < 1000; ++i) head = building.create<node>(i, head);
    }
    for (int i = 999; i >= 0; --i, head = head->next) ASSERT_EQ(head->value, i);
    EXPECT_EQ(head, nullptr);
    EXPECT_GE(level.used(), 1000 * sizeof(node));
    EXPECT_LT(level.used(), 1000 * (sizeof(node) + acre::redzone_bytes) + 100);
}

TEST(cursor, what_it_and_its_arena_hand_out_does_not_overlap) {
    acre::arena around{acre::arena_options{.first_block_bytes = 256, .max_block_bytes = 1024}};
    acre_test::live_model model;
    std::size_t size = 1;
    for (int turn = 0; turn < 50; ++turn) {
        {
            acre::cursor building{around};
            for (int i = 0; i < 20; ++i, size = size * 7 % 601) model.add(building.allocate(size, 16), size, 16);
            model.add(building.allocate(3, 256), 3, 256);
            model.add(building.try_allocate(5000, 8), 5000, 8);
            model.add(building.allocate<char>(10).data(), 10, 1);
        }
        model.add(around.allocate(size, 8), size, 8);
    }
    model.verify_all();
}

TEST(cursor, a_refusal_leaves_both_in_order) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::inline_arena<256> around{acre::no_memory{}};
    acre::cursor building{around};
    void* first = building.allocate(100);
    EXPECT_EQ(building.try_allocate(1000), nullptr);
    EXPECT_THROW((void)building.allocate(1000), acre::allocation_error);
    EXPECT_THROW((void)building.allocate(16, 3), acre::bad_alignment);
    EXPECT_THROW((void)building.allocate<long>(SIZE_MAX / 4), acre::allocation_error);
    void* second = building.allocate(100);
    EXPECT_EQ(static_cast<char*>(second) - static_cast<char*>(first), 112);  // aligned to 16
}

TEST(cursor, one_that_builds_nothing_takes_nothing) {
    acre::arena level;
    {
        const acre::cursor building{level};
    }
    EXPECT_EQ(level.capacity(), 0u);
}

TEST(cursor_misuse, the_arena_used_meanwhile) {
    EXPECT_DEATH(
        {
            acre::arena level;
            (void)level.allocate(8);
            acre::cursor building{level};
            (void)building.allocate(8);
            (void)level.allocate(8);
        },
        "acre::cursor: the arena was used while a cursor of it lived");
    EXPECT_DEATH(
        {
            acre::arena level;
            (void)level.allocate(8);
            acre::cursor first{level};
            acre::cursor second{level};
            (void)second.allocate(8);
        },
        "acre::cursor: the arena was used while a cursor of it lived");
}

TEST(cursor, goes_on_after_a_refusal) {
    acre::arena level;
    void* first;
    void* second;
    {
        acre::cursor building{level};
        first = building.allocate(8, 8);
        EXPECT_THROW((void)building.allocate(SIZE_MAX / 2), acre::allocation_error);
        second = building.allocate(8, 8);
    }
    EXPECT_EQ(static_cast<char*>(second) - static_cast<char*>(first), std::ptrdiff_t{8 + acre::redzone_bytes});
    EXPECT_EQ(static_cast<char*>(level.allocate(8, 8)) - static_cast<char*>(second),
              std::ptrdiff_t{8 + acre::redzone_bytes});
}

struct thrower {
    thrower() { throw std::runtime_error{"no"}; }
    char bytes[32];
};

// Hazard A12.
TEST(cursor, a_constructor_that_throws_in_a_block_of_its_own_leaves_the_cursor_where_it_is) {
    struct refusing {
        char bytes[20'000];
        refusing() { throw 1; }
    };
    acre::arena level{{.first_block_bytes = 1024, .max_block_bytes = 4096}};
    char* const first = static_cast<char*>(level.allocate(64));
    std::memset(first, 1, 64);
    {
        acre::cursor writing{level};
        EXPECT_THROW(writing.create<refusing>(), int);
        for (int i = 0; i < 1000; ++i) std::memset(writing.allocate(100), 2, 100);
    }
    std::memset(level.allocate(100), 3, 100);
    EXPECT_EQ(first[63], 1);
}

TEST(cursor, a_constructor_that_throws_keeps_nothing) {
    acre::arena level;
    {
        acre::cursor building{level};
        for (int i = 0; i < 100; ++i) EXPECT_THROW((void)building.create<thrower>(), std::runtime_error);
    }
    EXPECT_EQ(level.used(), 0u);
}

}  // namespace
