// All sizes in one pool.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/core/literals.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/size_classes.hpp>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"
#include "sizes.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;

TEST(multi_pool, example) {
    acre::multi_pool nodes;
    std::map<int, int, std::less<>, acre::allocator<std::pair<const int, int>, acre::multi_pool>> m{nodes};
    for (int i = 0; i < 100; ++i) m[i] = i;
    EXPECT_EQ(nodes.live(), 100u);
}

TEST(multi_pool, every_size_is_served_whole) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    std::vector<unsigned char*> all(10'001);
    for (std::size_t bytes = 0; bytes <= 10'000; ++bytes) {
        all[bytes] = static_cast<unsigned char*>(tested.allocate(bytes));
        std::memset(all[bytes], static_cast<int>(bytes & 255), bytes);
    }
    EXPECT_EQ(tested.live(), 10'001u);
    for (std::size_t bytes = 0; bytes <= 10'000; ++bytes) {
        for (std::size_t i = 0; i < bytes; i += 97) ASSERT_EQ(all[bytes][i], bytes & 255);
        tested.deallocate(all[bytes], bytes);
    }
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(tested.used(), 0u);
}

// Hazard C3.
TEST(multi_pool, every_size_at_every_alignment) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    for (std::size_t alignment = 1; alignment <= 16384; alignment *= 2) {
        for (std::size_t bytes = 0; bytes <= 8200; bytes += 61) {
            void* p = tested.allocate(bytes, alignment);
            ASSERT_TRUE(acre::is_aligned(p, alignment)) << bytes << " aligned to " << alignment;
            std::memset(p, 1, bytes);
            if (bytes % 3 == 0) tested.deallocate(p, bytes, alignment);
        }
    }
}

// Hazard C1: a class's own size comes from it, not from the next and not from upstream.
TEST(multi_pool, the_size_of_a_class_comes_from_it) {
    for (const std::size_t bytes : {8u, 64u, 128u, 144u, 256u, 1024u, 8192u}) {
        acre::multi_pool tested;
        (void)tested.allocate(bytes, 8);
        EXPECT_EQ(tested.used(), bytes);
    }
}

// Hazard C2: the same work needs upstream once.
TEST(multi_pool, freed_storage_is_used_again) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 1000; ++i) {
            for (const std::size_t bytes : {1u, 20u, 100u, 3000u, 8192u})
                tested.deallocate(tested.allocate(bytes), bytes);
        }
        EXPECT_EQ(upstream.requests(), 5u);
    }
}

// A request of no bytes goes another way than one of eight, to the same slots.
TEST(multi_pool, nothing_and_something_never_share_a_slot) {
    acre::multi_pool tested;
    std::set<void*> live;
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t bytes : {0U, 8U}) {
            for (int i = 0; i < 300; ++i) ASSERT_TRUE(live.insert(tested.allocate(bytes, 8)).second);
        }
        for (void* each : live) tested.deallocate(each, 8, 8);
        live.clear();
    }
    EXPECT_EQ(tested.live(), 0u);
}

TEST(multi_pool, larger_requests_go_to_upstream_and_come_back) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    void* a = tested.allocate(8193);
    void* b = tested.allocate(1_MiB, 4096);
    void* c = tested.allocate(8000, 16384);
    EXPECT_EQ(upstream.live_blocks(), 3u);
    EXPECT_TRUE(tested.owns(static_cast<std::byte*>(b) + 1_MiB - 1));
    EXPECT_FALSE(tested.owns(static_cast<std::byte*>(b) + 1_MiB));
    tested.deallocate(b, 1_MiB, 4096);
    EXPECT_EQ(upstream.live_blocks(), 2u);
    tested.deallocate(a, 8193);
    tested.deallocate(c, 8000, 16384);
    EXPECT_EQ(upstream.live_blocks(), 0u);
    EXPECT_EQ(tested.capacity(), 0u);
}

TEST(multi_pool, release_unused_keeps_what_lives) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    auto* kept = static_cast<char*>(tested.allocate(100));
    std::memset(kept, 'k', 100);
    std::vector<void*> others;
    for (int i = 0; i < 1000; ++i) others.push_back(tested.allocate(200));
    for (void* each : others) tested.deallocate(each, 200);
    const std::size_t held = tested.capacity();
    const std::size_t given = tested.release_unused();
    EXPECT_EQ(tested.capacity(), held - given);
    EXPECT_EQ(upstream.live_blocks(), 1u);
    EXPECT_EQ(kept[99], 'k');
    tested.deallocate(kept, 100);
    tested.release_unused();
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

TEST(multi_pool, the_limit_holds_for_all_together) {
    checking_upstream upstream;
    acre::multi_pool tested{{.limit_bytes = 60'000}, upstream};
    EXPECT_NE(tested.try_allocate(20'000), nullptr);
    std::mt19937 random{1};
    for (int i = 0; i < 3000; ++i) (void)tested.try_allocate(random() % 12'000);
    EXPECT_LE(upstream.peak_bytes(), 60'000u);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(30'000); }), outcome::limit_exceeded);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(8192); }), outcome::limit_exceeded);
    tested.release();
    EXPECT_EQ(tested.try_allocate(60'000), nullptr) << "the block also has a record";
    EXPECT_NE(tested.try_allocate(59'900), nullptr);
}

TEST(multi_pool, says_that_the_limit_was_reached_when_it_was) {
    checking_upstream upstream;
    acre::multi_pool tested{{.limit_bytes = 8_KiB}, upstream};
    while (tested.try_allocate(64) != nullptr) continue;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(64); }), outcome::limit_exceeded);
}

// Sizes whose alignment the next class does not have, and more classes than a word has bits.
struct many_classes {
    static constexpr auto bytes = [] {
        std::array<std::size_t, 200> sizes{};
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = 24 + 40 * i;
        return sizes;
    }();
};

template <class Pool>
class multi_pool_of_other_classes : public testing::Test {};
using other_pools =
    testing::Types<acre::basic_multi_pool<many_classes>, acre::basic_multi_pool<acre::size_class_list<24, 40, 3000>>,
                   acre::basic_concurrent_multi_pool<many_classes>,
                   acre::basic_concurrent_multi_pool<acre::size_class_list<24, 40, 3000>>>;
TYPED_TEST_SUITE(multi_pool_of_other_classes, other_pools);

// Hazard C3.
TYPED_TEST(multi_pool_of_other_classes, every_size_at_every_alignment) {
    checking_upstream upstream;
    TypeParam tested{upstream};
    for (std::size_t alignment = 1; alignment <= 16384; alignment *= 2) {
        for (std::size_t bytes = 0; bytes <= 8200; bytes += 61) {
            void* p = tested.allocate(bytes, alignment);
            ASSERT_TRUE(acre::is_aligned(p, alignment)) << bytes << " aligned to " << alignment;
            std::memset(p, 1, bytes);
            void* other = tested.allocate(bytes, alignment);
            tested.deallocate(p, bytes, alignment);
            tested.deallocate(other, bytes, alignment);
        }
    }
    EXPECT_EQ(tested.live(), 0u);
    tested.release();
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

TYPED_TEST(multi_pool_of_other_classes, nodes_of_a_class_take_no_more) {
    TypeParam tested;
    (void)tested.allocate(24, 8);
    EXPECT_EQ(tested.used(), 24u);
}

// Hazard X13.
TEST(multi_pool, required_bytes_are_what_is_asked_of_upstream) {
    for (const std::size_t bytes : {1u, 64u, 72u, 1000u, 8192u, 8193u, 50'000u}) {
        for (const std::size_t alignment : {8u, 64u, 4096u}) {
            for (const std::size_t count : {1u, 10u, 700u}) {
                const std::size_t required = acre::multi_pool::required_bytes(count, bytes, alignment);
                checking_upstream upstream;
                acre::multi_pool tested{{.limit_bytes = required}, upstream};
                for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_NE(tested.try_allocate(bytes, alignment), nullptr) << bytes << ' ' << alignment << ' ' << i;
                }
                EXPECT_EQ(upstream.total_bytes(), required);
                if (required - 8 < 4_KiB) continue;
                checking_upstream other;
                acre::multi_pool lacks{{.limit_bytes = required - 8}, other};
                std::size_t served = 0;
                while (served < count && lacks.try_allocate(bytes, alignment) != nullptr) ++served;
                EXPECT_LT(served, count) << bytes << ' ' << alignment;
            }
        }
    }
}

// Hazard M13.
TEST(multi_pool, required_bytes_do_not_wrap) {
    using acre::multi_pool;
    static_assert(multi_pool::required_bytes(0, 100) == 0 && multi_pool::required_bytes(0, SIZE_MAX) == 0);
    static_assert(multi_pool::required_bytes(SIZE_MAX, 8) == SIZE_MAX);
    static_assert(multi_pool::required_bytes(SIZE_MAX / 16 + 1, 16) == SIZE_MAX);
    static_assert(multi_pool::required_bytes(2, SIZE_MAX) == SIZE_MAX);
    static_assert(multi_pool::required_bytes(acre_test::root_of_all, acre_test::root_of_all) == SIZE_MAX);
    static_assert(multi_pool::required_bytes(SIZE_MAX >> 24, 64) > SIZE_MAX >> 18);
    SUCCEED();
}

// Hazard X14.
TEST(multi_pool, memory_does_not_grow_without_bound) {
    checking_upstream upstream;
    acre::multi_pool tested{upstream};
    std::mt19937 random{4};
    struct item {
        void* p = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<item> items(500);
    std::size_t halfway = 0;
    for (int i = 0; i < 400'000; ++i) {
        item& each = items[random() % items.size()];
        tested.deallocate(each.p, each.bytes);
        each.bytes = random() % (random() % 4 == 0 ? 2000 : 200);
        each.p = tested.allocate(each.bytes);
        if (i == 200'000) halfway = upstream.live_bytes();
    }
    EXPECT_LE(upstream.live_bytes(), halfway * 11 / 10);
}

}  // namespace
