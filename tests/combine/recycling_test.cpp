// acre::recycling: freed storage of an arena is reused by size class.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/pool.hpp>
#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/live_model.hpp"

namespace {

using level = acre::recycling<acre::arena>;
template <class T>
using in_level = acre::allocator<T, level>;

TEST(recycling, example) {
    level around;
    const auto used_after = [&] {
        std::vector<int, in_level<int>> v{around};
        for (int i = 0; i < 1000; ++i) v.push_back(i);
        return around.used();
    };
    const std::size_t first = used_after();
    EXPECT_EQ(used_after(), first);
}

// Hazard A8: outgrown buffers of a vector serve others.
TEST(recycling, buffers_left_behind_are_used_again) {
    level around;
    std::size_t warm = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<std::vector<int, in_level<int>>> several;
        for (int i = 0; i < 10; ++i) several.emplace_back(around);
        for (int i = 0; i < 500; ++i) {
            for (auto& each : several) each.push_back(i);
        }
        if (round == 0) warm = around.used();
        EXPECT_LE(around.used(), warm) << round;
    }
}

TEST(recycling, erased_nodes_are_used_again) {
    level around;
    std::map<int, int, std::less<>, in_level<std::pair<const int, int>>> nodes{around};
    for (int i = 0; i < 1000; ++i) nodes.emplace(i, i);
    const std::size_t used = around.used();
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 1000; i += 2) nodes.erase(i);
        for (int i = 0; i < 1000; i += 2) nodes.emplace(i, i);
    }
    EXPECT_EQ(around.used(), used);
}

TEST(recycling, sizes_are_rounded_up_by_a_quarter_at_most) {
    for (std::size_t bytes = 65; bytes < 100'000; bytes = bytes * 9 / 8) {
        level around;
        (void)around.allocate(bytes, 8);
        EXPECT_GE(around.used(), bytes);
        EXPECT_LE(around.used(), bytes + bytes / 4 + 8 + acre::redzone_bytes) << bytes;
    }
}

TEST(recycling, the_last_allocation_goes_back_to_the_arena) {
    level around;
    void* p = around.allocate(100);
    const std::size_t used = around.used();
    around.deallocate(p, 100);
    EXPECT_LE(around.used(), used - 100);
    EXPECT_EQ(around.allocate(1000), p);
}

TEST(recycling, a_reset_forgets_what_was_freed) {
    level around;
    void* p = around.allocate(100);
    (void)around.allocate(100);
    around.deallocate(p, 100);
    around.reset(acre::release);
    EXPECT_EQ(around.capacity(), 0u);
    (void)around.allocate(100);
    EXPECT_GT(around.capacity(), 0u);
}

// Hazard X14.
TEST(recycling, mixed_alignments_reach_a_bound) {
    level around;
    std::size_t warm = 0;
    for (int i = 0; i < 10'000; ++i) {
        void* strict = around.allocate(100, 64);
        void* plain = around.allocate(100, 16);
        void* pin = around.allocate(200);
        around.deallocate(strict, 100, 64);
        around.deallocate(plain, 100, 16);
        around.deallocate(pin, 200);
        if (i == 10) warm = around.used();
    }
    EXPECT_LE(around.used(), 2 * warm);
}

TEST(recycling, at_random) {
    level around;
    std::mt19937 random{3};
    acre_test::live_model model;
    for (int i = 0; i < 50'000; ++i) {
        if (random() % 2 == 0 || model.empty()) {
            const std::size_t bytes = random() % (random() % 8 == 0 ? 5000 : 200);
            const std::size_t alignment = std::size_t{1} << random() % 8;
            model.add(around.allocate(bytes, alignment), bytes, alignment);
        } else if (random() % 4 == 0) {
            const acre_test::live_block block = model.any(random());
            const std::size_t bytes = random() % 300;
            if (around.try_resize(block.p, block.bytes, bytes)) model.resize(block.p, bytes);
        } else {
            const acre_test::live_block block = model.any(random());
            model.remove(block.p);
            around.deallocate(block.p, block.bytes, block.alignment);
        }
    }
    model.verify_all();
    // After 50,000 random steps the memory is a few times the live bytes, not all bytes ever requested.
    EXPECT_LE(around.used(), 4 * model.live_bytes() + 100'000);
}

// It compiles without a warning, too: -Wshadow sees the members of all the resources that a wrapper derives from.
TEST(recycling, is_limited_and_counted) {
    acre::statistics<acre::limited<level>> counted{{.limit_bytes = 1000}};
    counted.deallocate(counted.allocate(100), 100);
    EXPECT_EQ(counted.counts().allocations.total, 1u);
    EXPECT_EQ(counted.counts().bytes.value, 0u);
}

using movable = acre::recycling<acre::pool<128>>;
static_assert(std::is_nothrow_move_constructible_v<movable>);
static_assert(std::is_nothrow_move_assignable_v<movable>);
static_assert(std::is_nothrow_move_constructible_v<acre::statistics<movable>>);
static_assert(!std::is_move_constructible_v<level> && !std::is_move_assignable_v<level>);

TEST(recycling, moves_with_what_was_freed) {
    movable first;
    void* const a = first.allocate(64);
    void* const b = first.allocate(64);
    void* const c = first.allocate(100);
    first.deallocate(a, 64);
    first.deallocate(b, 64);
    auto second = std::move(first);
    second.deallocate(c, 100);
    EXPECT_EQ(second.allocate(64), b);
    EXPECT_EQ(second.allocate(64), a);
    EXPECT_EQ(second.allocate(100), c);
    EXPECT_FALSE(second.owns(first.allocate(64))) << "the source is empty and works";
    second.deallocate(a, 64);
    first = std::move(second);
    EXPECT_EQ(first.allocate(64), a) << "its own list went with its own storage";
    EXPECT_FALSE(first.owns(second.allocate(64)));
}

TEST(recycling, moved_to_itself_is_unchanged) {
    movable one;
    void* const p = one.allocate(64);
    one.deallocate(p, 64);
    auto& same = one;
    one = std::move(same);
    EXPECT_EQ(one.allocate(64), p);
}

// Hazard Y1, after a move.
TEST(recycling_misuse, freed_twice_with_a_move_between) {
    movable first;
    void* const a = first.allocate(64);
    void* const b = first.allocate(64);
    first.deallocate(a, 64);
    first.deallocate(b, 64);
    auto second = std::move(first);
    EXPECT_DEATH(second.deallocate(a, 64), "acre::recycling: double free");
    EXPECT_DEATH(second.deallocate(b, 64), "acre::recycling: double free");
}

TEST(recycling_misuse, written_after_the_free_and_moved) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer sees the write itself";
    movable first;
    auto* const a = static_cast<void**>(first.allocate(64));
    first.deallocate(a, 64);
    a[1] = nullptr;
    EXPECT_DEATH(auto second = std::move(first), "acre::recycling: an allocation was written to after it was freed");
}

// Hazard Y1. Between the two frees the storage is in a list, and another in front of it.
TEST(recycling_misuse, freed_twice) {
    level around;
    void* a = around.allocate(64);
    void* b = around.allocate(64);
    (void)around.allocate(64);
    around.deallocate(a, 64);
    EXPECT_DEATH(around.deallocate(a, 64), "acre::recycling: double free");
    around.deallocate(b, 64);
    EXPECT_DEATH(around.deallocate(a, 64), "acre::recycling: double free");
    EXPECT_DEATH(around.deallocate(a, 100), "acre::recycling: double free") << "as another class";
    EXPECT_EQ(around.allocate(64), b);
    EXPECT_EQ(around.allocate(64), a);
    around.deallocate(b, 64);
    around.deallocate(a, 64);
}

// Hazard Y1. What was freed before the last allocation must not pass as the last one.
TEST(recycling_misuse, freed_twice_where_the_last_went_back) {
    level around;
    void* a = around.allocate(64);
    void* b = around.allocate(64);
    around.deallocate(a, 64);
    around.deallocate(b, 64);
    EXPECT_DEATH(around.deallocate(a, 64), "acre::recycling: double free");
    EXPECT_DEATH(around.deallocate(b, 64), "acre::recycling: double free") << "the last one itself";
}

// A write to freed storage destroys what tells that it is free. It is noticed before the storage has two owners.
TEST(recycling_misuse, written_after_the_free) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer sees the write itself";
    level around;
    auto* a = static_cast<void**>(around.allocate(64));
    auto* b = static_cast<void**>(around.allocate(64));
    (void)around.allocate(64);
    const char* sentence = "acre::recycling: an allocation was written to after it was freed";
    around.deallocate(a, 64);
    a[1] = nullptr;
    EXPECT_DEATH((void)around.allocate(64), sentence);
    around.deallocate(b, 64);
    around.deallocate(a, 64);  // for the second time, unseen
    EXPECT_EQ(around.allocate(64), a);
    EXPECT_EQ(around.allocate(64), b);
    EXPECT_DEATH((void)around.allocate(64), sentence);
}

// Hazard Y2.
TEST(recycling_misuse, a_pointer_into_the_middle) {
    level around;
    auto* p = static_cast<char*>(around.allocate(64));
    (void)around.allocate(64);
    EXPECT_DEATH(around.deallocate(p + 1, 63), "acre::recycling: a pointer into the middle");
    EXPECT_DEATH(around.deallocate(p + 8, 56), "acre::recycling: a pointer into the middle");
    around.deallocate(p, 64);
}

// What a user leaves in storage is no misuse, whatever it looks like.
TEST(recycling_misuse, no_misuse_is_seen_in_what_users_write) {
    level around;
    auto* p = static_cast<void**>(around.allocate(64));
    (void)around.allocate(64);
    auto* const object = reinterpret_cast<std::byte*>(&around);
    for (std::size_t offset = 0; offset < sizeof around; offset += sizeof(void*)) {
        p[1] = object + offset;
        around.deallocate(p, 64);
        ASSERT_EQ(around.allocate(64), p);
        EXPECT_EQ(p[1], nullptr);
    }
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
// Hazards Y3, Y5.
TEST(recycling_misuse, tails_and_sizes_under_address_sanitizer) {
    level around;
    auto* p = static_cast<char*>(around.allocate(100));
    (void)around.allocate(100);
    EXPECT_TRUE(acre::is_poisoned(p + 100));
    EXPECT_DEATH(around.deallocate(p, 300), "acre::recycling: freed with another size");
    EXPECT_DEATH((void)around.try_resize(p, 300, 310), "acre::recycling: resized with another size");
    alignas(16) char local[64];
    EXPECT_DEATH(around.deallocate(local, 64), "acre::recycling: a pointer of another resource was freed");
    level other;
    EXPECT_DEATH(other.deallocate(p, 100), "acre::recycling: a pointer of another resource was freed");
    EXPECT_TRUE(around.try_resize(p, 100, 110));
    EXPECT_FALSE(acre::is_poisoned(p + 109));
    EXPECT_TRUE(acre::is_poisoned(p + 110));
    EXPECT_FALSE(around.try_resize(p, 110, 1000));
    EXPECT_TRUE(acre::is_poisoned(p + 110));
    around.deallocate(p, 110);
    EXPECT_TRUE(acre::is_poisoned(p));
    EXPECT_EQ(around.allocate(104), p);
    EXPECT_FALSE(acre::is_poisoned(p + 103));
    EXPECT_TRUE(acre::is_poisoned(p + 104));
}
#endif

}  // namespace
