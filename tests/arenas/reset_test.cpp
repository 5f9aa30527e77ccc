// Reset policies, marks, and resizing in place.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/buffer.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::tracked;

class arena_reset : public testing::Test {
protected:
    checking_upstream upstream_;
    acre::arena tested_{{.first_block_bytes = 1_KiB, .max_block_bytes = 8_KiB}, upstream_};

    void SetUp() override {
        // Blocks of 1, 2, 4 and 8 KiB and one of 20,032 bytes.
        while (upstream_.sizes().size() < 4) (void)tested_.allocate(100);
        (void)tested_.allocate(20'000, 16);
        ASSERT_EQ(upstream_.sizes().size(), 5u);
    }
    std::size_t oversize_bytes() const { return upstream_.sizes()[4]; }
};

TEST_F(arena_reset, keep_all_is_the_default) {
    const std::size_t held = tested_.capacity();
    tested_.reset();
    EXPECT_EQ(tested_.capacity(), held);
    EXPECT_EQ(tested_.used(), 0u);
    tested_.reset(acre::keep_all);
    EXPECT_EQ(tested_.capacity(), held);
    EXPECT_EQ(upstream_.live_bytes(), held);
}

TEST_F(arena_reset, keep_largest_keeps_one) {
    tested_.reset(acre::keep_largest);
    EXPECT_EQ(upstream_.live_blocks(), 1u);
    EXPECT_EQ(tested_.capacity(), oversize_bytes());
    const std::size_t requests = upstream_.requests();
    (void)tested_.allocate(19'000);
    EXPECT_EQ(upstream_.requests(), requests);
    tested_.reset(acre::keep_largest);
    EXPECT_EQ(upstream_.live_blocks(), 1u);
}

TEST_F(arena_reset, keep_keeps_the_oldest_that_fit) {
    tested_.reset(acre::keep(7_KiB));
    EXPECT_EQ(tested_.capacity(), 7_KiB);
    EXPECT_EQ(upstream_.live_blocks(), 3u);
    tested_.reset(acre::keep(3_KiB));
    EXPECT_EQ(tested_.capacity(), 3_KiB);
    tested_.reset(acre::keep(0));
    EXPECT_EQ(upstream_.live_blocks(), 0u);
}

TEST_F(arena_reset, release_gives_all_back_and_growth_starts_anew) {
    tested_.reset(acre::release);
    EXPECT_EQ(upstream_.live_blocks(), 0u);
    EXPECT_EQ(tested_.capacity(), 0u);
    (void)tested_.allocate(8);
    EXPECT_EQ(upstream_.sizes().back(), 1_KiB);
}

TEST_F(arena_reset, policies_may_follow_each_other) {
    for (const auto& policy : {acre::keep_largest, acre::keep(3_KiB), acre::keep_all, acre::release}) {
        for (const auto& next : {acre::keep_all, acre::release, acre::keep(1_KiB), acre::keep_largest}) {
            for (int i = 0; i < 40; ++i) std::memset(tested_.allocate(500), i, 500);
            tested_.reset(policy);
            std::memset(tested_.allocate(64), 1, 64);
            tested_.reset(next);
            EXPECT_EQ(tested_.used(), 0u);
            EXPECT_EQ(tested_.capacity(), upstream_.live_bytes());
        }
    }
}

TEST_F(arena_reset, of_an_empty_arena_is_a_no_op) {
    acre::arena empty{upstream_};
    for (const auto& policy : {acre::keep_all, acre::keep_largest, acre::keep(100), acre::release}) empty.reset(policy);
    EXPECT_EQ(empty.capacity(), 0u);
    EXPECT_NE(empty.allocate(8), nullptr);
}

// Hazard X10.
// Each is looked for by a test of its own in the fast path.
TEST(arena_reset_alone, takes_back_whatever_there_is) {
    tracked::start();
    acre::arena level{acre::arena_options{.first_block_bytes = 1_KiB, .max_block_bytes = 1_KiB}};
    const std::vector<void (*)(acre::arena&)> makes{
        [](acre::arena& in) { (void)in.allocate(8); },
        [](acre::arena& in) { in.create<tracked>(1); },
        [](acre::arena& in) { (void)in.allocate(5000); },
        [](acre::arena& in) {
            for (int i = 0; i < 20; ++i) (void)in.allocate(100);
        },
    };
    for (int round = 0; round < 2; ++round) {
        for (const auto make : makes) {
            make(level);
            level.reset();
            EXPECT_EQ(level.used(), 0u);
            EXPECT_EQ(tracked::live, 0);
        }
        const auto mark = level.mark();
        acre::scratch temp{level};
        level.reset();
        EXPECT_FALSE(temp.active());
        EXPECT_TRUE(level.is_void(mark));
        const auto again = level.mark();
        level.reset();
        level.reset();
        EXPECT_TRUE(level.is_void(again));
        EXPECT_FALSE(level.is_void(level.mark()));
    }
}

TEST(arena_reset_alone, after_a_release_leaves_nothing_to_use) {
    for (const acre::arena_options& options : {acre::arena_options{}, acre::arena_options{.fixed_bytes = 1000}}) {
        acre::arena level{options};
        (void)level.allocate(8);
        level.reset(acre::release);
        level.reset();
        EXPECT_EQ(level.remaining(), 0u);
        std::memset(level.allocate(100, 8), 1, 100);
        EXPECT_EQ(level.used(), 104u + acre::redzone_bytes);
    }
}

constinit acre::arena static_arena;
TEST(arena_static, is_a_constant_until_it_is_used) {
    EXPECT_EQ(static_arena.used(), 0u);
    (void)static_arena.allocate(8);
    static_arena.reset(acre::release);
    EXPECT_EQ(static_arena.capacity(), 0u);
}

// A scratch has the number of the newest mark, which others share.
TEST(arena_mark, void_after_the_scratch_that_it_was_taken_in) {
    acre::arena level;
    const auto outside = level.mark();
    for (int round = 0; round < 3; ++round) {
        acre::arena::mark_type inside[3];
        {
            acre::scratch outer{level};
            inside[0] = level.mark();
            {
                acre::scratch inner{level};
                inside[1] = level.mark();
            }
            EXPECT_TRUE(level.is_void(inside[1]));
            EXPECT_FALSE(level.is_void(inside[0]));
            level.rewind(inside[0]);
            EXPECT_TRUE(outer.active());
            inside[2] = level.mark();
        }
        for (const auto& each : inside) EXPECT_TRUE(level.is_void(each));
        EXPECT_FALSE(level.is_void(outside));
    }
    acre::scratch after{level};
    level.rewind(outside);
    EXPECT_FALSE(after.active());
}

// Hazard X10.
TEST(arena_mark, on_an_empty_arena_rewinds_to_empty) {
    acre::arena tested;
    const auto empty = tested.mark();
    void* first = tested.allocate(100);
    (void)tested.allocate(10'000);
    tested.rewind(empty);
    EXPECT_EQ(tested.used(), 0u);
    EXPECT_EQ(tested.allocate(100), first);
    tested.rewind(empty);
    tested.rewind(empty);
    EXPECT_EQ(tested.used(), 0u);
}

// Hazard X10.
TEST(arena_mark, across_blocks_restores_block_position_and_destructors) {
    tracked::start();
    checking_upstream upstream;
    acre::arena tested{{.first_block_bytes = 256, .max_block_bytes = 1024}, upstream};
    tested.create<tracked>(1);
    auto* before = static_cast<char*>(tested.allocate(16));
    std::memset(before, 'b', 16);
    const std::size_t used = tested.used();
    const auto where = tested.mark();
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 50; ++i) tested.create<tracked>(100 + i);
        (void)tested.allocate(5000);
        tracked::destroyed.clear();
        tested.rewind(where);
        ASSERT_EQ(tracked::destroyed.size(), 50u);
        EXPECT_EQ(tracked::destroyed.front(), 149) << "newest first";
        EXPECT_EQ(tracked::destroyed.back(), 100);
        EXPECT_EQ(tested.used(), used);
        EXPECT_EQ(tested.allocate(16), before + 16 + acre::redzone_bytes);
        tested.rewind(where);
    }
    EXPECT_EQ(tracked::live, 1);
    EXPECT_EQ(before[0], 'b');
    EXPECT_EQ(before[15], 'b');
    const std::size_t requests = upstream.requests();
    for (int i = 0; i < 50; ++i) tested.create<tracked>(i);
    (void)tested.allocate(5000);
    EXPECT_EQ(upstream.requests(), requests) << "a rewind keeps the blocks";
    tested.reset();
    EXPECT_EQ(tracked::live, 0);
}

TEST(arena_mark, nested_marks_rewind_in_order) {
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 256}};
    std::vector<acre::arena::mark_type> marks;
    std::vector<std::size_t> used;
    for (int i = 0; i < 30; ++i) {
        marks.push_back(tested.mark());
        used.push_back(tested.used());
        (void)tested.allocate(static_cast<std::size_t>(i) * 20);
    }
    for (std::size_t i = 30; i > 0; i -= 3) {
        tested.rewind(marks[i - 3]);
        EXPECT_EQ(tested.used(), used[i - 3]);
    }
}

TEST(arena_resize, the_last_grows_and_shrinks_where_it_is) {
    acre::arena tested;
    auto* p = static_cast<char*>(tested.allocate(100));
    std::memset(p, 'x', 100);
    EXPECT_TRUE(tested.try_resize(p, 100, 1000));
    std::memset(p + 100, 'y', 900);
    EXPECT_EQ(p[99], 'x');
    EXPECT_TRUE(tested.try_resize(p, 1000, 10));
    EXPECT_EQ(tested.allocate(8), p + 16 + acre::redzone_bytes);
    EXPECT_FALSE(tested.try_resize(p, 10, 100)) << "no longer the last";
    EXPECT_TRUE(tested.try_resize(p, 10, 5));
}

TEST(arena_resize, stops_at_the_end_of_the_block) {
    acre::arena tested{{.first_block_bytes = 256}};
    void* p = tested.allocate(100);
    EXPECT_FALSE(tested.try_resize(p, 100, 256));
    EXPECT_FALSE(tested.try_resize(p, 100, SIZE_MAX));
    EXPECT_FALSE(tested.try_resize(p, 100, SIZE_MAX - 7));
    EXPECT_TRUE(tested.try_resize(p, 100, 256 - 24 - 8 - 2 * acre::redzone_bytes));
    EXPECT_EQ(tested.capacity(), 256u);
}

TEST(arena_mark, void_after_a_reset_that_gave_its_block_back) {
    acre::arena tested;
    (void)tested.allocate(100);
    const auto where = tested.mark();
    tested.reset(acre::release);
    EXPECT_DEATH(tested.rewind(where),
                 "acre::arena: rewound to a mark that a reset or an earlier rewind has made void");
}

TEST(arena_deallocate, gives_back_the_last_only) {
    acre::arena tested;
    void* a = tested.allocate(40, 8);
    void* b = tested.allocate(40, 8);
    tested.deallocate(a, 40, 8);
    EXPECT_EQ(tested.used(), 2 * (40 + acre::redzone_bytes));
    tested.deallocate(b, 40, 8);
    EXPECT_EQ(tested.used(), 40 + acre::redzone_bytes);
    EXPECT_EQ(tested.allocate(40, 8), b);
}

// The blocks of these marks are all held, and what was allocated since covers where they point: a rewind to them would
// hand out live storage again.
TEST(arena_mark, void_marks_end_with_a_sentence) {
    const char* sentence = "acre::arena: rewound to a mark that a reset or an earlier rewind has made void";
    acre::arena level;
    const auto empty = level.mark();
    (void)level.allocate(100);
    const auto first = level.mark();
    (void)level.allocate(16);
    const auto second = level.mark();
    level.rewind(second);
    level.rewind(first);
    (void)level.allocate(200);
    EXPECT_TRUE(level.is_void(second));
    EXPECT_DEATH(level.rewind(second), sentence) << "of a rewind";
    level.rewind(first);
    EXPECT_DEATH(level.rewind(second), sentence) << "after two rewinds to the same mark";
    const auto third = level.mark();
    level.rewind(third);
    EXPECT_DEATH(level.rewind(second), sentence) << "rewinds that pass no mark do not hide it";
    level.rewind(first);
    EXPECT_DEATH(level.rewind(third), sentence);
    level.rewind(empty);
    EXPECT_DEATH(level.rewind(first), sentence);
    level.reset();
    (void)level.allocate(100);
    for (const auto& each : {empty, first, second, third}) EXPECT_TRUE(level.is_void(each));
    EXPECT_DEATH(level.rewind(empty), sentence) << "of a reset";
    EXPECT_DEATH(level.rewind(first), sentence) << "of a reset";
    const auto fresh = level.mark();
    level.rewind(fresh);
    EXPECT_DEATH(level.rewind(first), sentence) << "a reset is never forgotten";
}

TEST(arena_mark, of_what_is_gone_ends_with_a_sentence) {
    EXPECT_DEATH(
        {
            acre::arena level;
            const auto early = level.mark();
            level.create<std::string>("a text that is too long to lie in the string itself");
            const auto late = level.mark();
            level.rewind(early);
            for (int i = 0; i < 2; ++i) {
                const auto outer = level.mark();
                (void)level.mark();
                level.rewind(outer);
            }
            level.rewind(late);
        },
        "acre::arena: rewound to a mark that a reset or an earlier rewind has made void");
}

TEST(arena_mark, of_another_arena_ends_with_a_sentence) {
    acre::arena level, other;
    const auto mark = level.mark();
    (void)other.mark();
    (void)other.allocate(64);
    EXPECT_TRUE(other.is_void(mark));
    EXPECT_DEATH(other.rewind(mark), "acre::arena: rewound to a mark of another arena");
    EXPECT_DEATH(other.rewind(acre::arena::mark_type{}), "acre::arena: rewound to a mark of another arena");
    level.rewind(mark);
}

TEST(arena_mark, taken_in_a_scratch_is_void_after_its_end) {
    acre::arena level;
    (void)level.allocate(16);
    const auto inside = [&] {
        acre::scratch temp{level};
        (void)temp.allocate(32);
        return level.mark();
    }();
    (void)level.allocate(200);
    EXPECT_DEATH(level.rewind(inside), "acre::arena: rewound to a mark that");
}

// What was freed before a mark, and the scratches between, are no reason to refuse it.
TEST(arena_mark, stays_good_while_nothing_before_it_is_taken_back) {
    acre::arena level;
    void* freed = level.allocate(100);
    const auto outer = level.mark();
    level.deallocate(freed, 100);
    (void)level.allocate(16);
    for (int i = 0; i < 3; ++i) {
        const auto inner = level.mark();
        {
            acre::scratch temp{level};
            acre::scratch nested{level};
            (void)nested.allocate(10'000);
        }
        level.rewind(inner);
        level.rewind(inner);
    }
    level.rewind(outer);
    EXPECT_FALSE(level.is_void(outer));
}

// Promise 3: spare blocks are not given back for a request that cannot be served anyway.
// Hazard A12.
TEST(arena, a_hopeless_request_keeps_the_blocks) {
    acre::inline_buffer<65536> storage;
    acre::arena level{acre::arena_options{.first_block_bytes = 1024, .max_block_bytes = 16384}, storage};
    for (int i = 0; i < 40; ++i) (void)level.allocate(1000);
    level.reset();
    const std::size_t held = level.capacity();
    EXPECT_EQ(level.try_allocate(std::size_t{1} << 20), nullptr);
    EXPECT_EQ(level.capacity(), held);
}

}  // namespace
