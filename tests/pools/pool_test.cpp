// Raw slots of one size: growth, limits, release, moves, and cost.
#include <gtest/gtest.h>

#include <acre/core/literals.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/pools/pool.hpp>
#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"
#include "conformance/worlds.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::raw_storage;

TEST(pool, example) {
    acre::pool<64> slots;
    void* p = slots.allocate();
    EXPECT_EQ(slots.live(), 1u);
    slots.deallocate(p);
    EXPECT_EQ(slots.live(), 0u);
}

TEST(pool, slots_are_distinct_aligned_and_whole) {
    checking_upstream upstream;
    acre::pool<40, 8> tested{upstream};
    std::vector<unsigned char*> slots;
    for (int i = 0; i < 5000; ++i) {
        slots.push_back(static_cast<unsigned char*>(tested.allocate()));
        ASSERT_TRUE(acre::is_aligned(slots.back(), 8));
        std::memset(slots.back(), i & 255, 40);
    }
    for (int i = 0; i < 5000; ++i) {
        for (int k = 0; k < 40; ++k) ASSERT_EQ(slots[static_cast<std::size_t>(i)][k], i & 255);
    }
    std::ranges::sort(slots);
    for (std::size_t i = 1; i < slots.size(); ++i) ASSERT_GE(slots[i] - slots[i - 1], 40);
    EXPECT_EQ(tested.live(), 5000u);
    EXPECT_EQ(tested.used(), 5000u * 40);
}

TEST(pool, a_few_slots_cost_a_few_kibibytes) {
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    for (int i = 0; i < 3; ++i) (void)tested.allocate();
    EXPECT_LE(upstream.live_bytes(), 8_KiB);
}

// Hazard P5 of the benchmarks: 10,000 slots of 64 bytes cost at most 5 % more.
TEST(pool, footprint_of_ten_thousand_slots) {
    if (acre::poisoning) GTEST_SKIP() << "the gaps between slots take room";
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    for (int i = 0; i < 10'000; ++i) (void)tested.allocate();
    EXPECT_LE(upstream.live_bytes(), 10'000u * 64 * 105 / 100);
    EXPECT_EQ(tested.capacity(), upstream.live_bytes());
    EXPECT_GE(tested.slots(), 10'000u);
}

TEST(pool, freed_slots_are_used_again) {
    checking_upstream upstream;
    acre::pool<32> tested{upstream};
    std::vector<void*> slots(1000);
    for (auto& each : slots) each = tested.allocate();
    const std::size_t requests = upstream.requests();
    std::mt19937 random{1};
    for (int round = 0; round < 50; ++round) {
        std::ranges::shuffle(slots, random);
        for (std::size_t i = 0; i < 500; ++i) tested.deallocate(slots[i]);
        for (std::size_t i = 0; i < 500; ++i) slots[i] = tested.allocate();
        ASSERT_EQ(std::set<void*>(slots.begin(), slots.end()).size(), 1000u);
    }
    EXPECT_EQ(upstream.requests(), requests);
}

// Hazards C2, M2, M3: whatever the size and alignment, rounds of allocating and freeing lose nothing.
// It is still in the cache. The map has the others.
TEST(pool, the_slot_freed_last_is_used_first) {
    if (acre::poisoning) GTEST_SKIP() << "with AddressSanitizer a freed slot is used again as late as possible";
    acre::pool<64> tested;
    std::vector<void*> slots(1000);
    for (void*& each : slots) each = tested.allocate();
    while (tested.slots() > tested.live()) slots.push_back(tested.allocate());
    std::set<void*> freed;
    for (std::size_t i = 0; i < 20; ++i) {
        tested.deallocate(slots[i * 37]);
        freed.insert(slots[i * 37]);
    }
    EXPECT_EQ(tested.allocate(), slots[std::size_t{19} * 37]);
    freed.erase(slots[std::size_t{19} * 37]);
    for (int i = 0; i < 19; ++i) EXPECT_EQ(freed.erase(tested.allocate()), 1u);
    EXPECT_EQ(tested.live(), tested.slots());
    tested.deallocate(slots[0]);
    tested.release_unused();
    EXPECT_EQ(tested.allocate(), slots[0]) << "the map has it still";
}

// What the pool remembers of it ends with reset(), release_unused() and release(), and moves with the pool.
TEST(pool, the_slot_freed_last_is_handed_out_once) {
    acre::pool<64> tested;
    const auto all_differ = [&] {
        std::set<void*> seen;
        for (int i = 0; i < 500; ++i) seen.insert(tested.allocate());
        return seen.size() == 500;
    };
    tested.deallocate(tested.allocate());
    EXPECT_TRUE(all_differ());
    tested.deallocate(tested.allocate());
    tested.reset();
    EXPECT_TRUE(all_differ());
    EXPECT_EQ(tested.live(), 500u);
    tested.release();
    tested.deallocate(tested.allocate());
    tested.release_unused();
    EXPECT_EQ(tested.capacity(), 0u);
    EXPECT_TRUE(all_differ());
    tested.deallocate(tested.allocate());
    tested.release();
    EXPECT_TRUE(all_differ());
    tested.deallocate(tested.allocate());
    acre::pool<64> moved{std::move(tested)};
    tested = acre::pool<64>{};
    EXPECT_TRUE(all_differ());
    EXPECT_TRUE(tested.owns(tested.allocate()));
    EXPECT_TRUE(moved.owns(moved.allocate()));
    EXPECT_EQ(moved.live(), 501u);
}

TEST(pool, large_slots_used_in_turns_stay_the_same_few) {
    acre::pool<4096> slots;
    std::set<void*> seen;
    for (int i = 0; i < 1000; ++i) {
        void* p = slots.allocate();
        seen.insert(p);
        slots.deallocate(p);
    }
    EXPECT_LE(seen.size(), 3u);  // 16 KiB of them are gathered at once, and the first slab may have been short
}

// Hazard M3.
TEST(pool, rounds_of_the_exact_size_lose_nothing) {
    checking_upstream upstream;
    acre::pool<256, 64> tested{upstream};
    for (int i = 0; i < 100'000; ++i) tested.deallocate(tested.allocate(256, 64), 256, 64);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(upstream.requests(), 1u);
}

// Hazard M2.
TEST(pool, rounds_of_an_over_aligned_size_lose_nothing) {
    checking_upstream upstream;
    acre::pool<256> tested{upstream};
    for (int i = 0; i < 1000; ++i) tested.deallocate(tested.allocate(256, 4096), 256, 4096);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(tested.used(), 0u);
    EXPECT_EQ(upstream.live_bytes(), tested.capacity());
}

// Hazard P3.
TEST(pool, giving_back_never_asks_upstream) {
    checking_upstream upstream;
    acre::pool<16> tested{upstream};
    std::vector<void*> slots(3000);
    for (auto& each : slots) each = tested.allocate();
    upstream.fail_from(1);
    const std::size_t requests = upstream.requests();
    for (void* each : slots) tested.deallocate(each);
    EXPECT_EQ(upstream.requests(), requests);
    EXPECT_EQ(tested.live(), 0u);
}

// Hazard P4.
TEST(pool, null_is_a_no_op) {
    acre::pool<16> tested;
    tested.deallocate(nullptr);
    EXPECT_NE(tested.allocate(), nullptr);
    EXPECT_EQ(tested.live(), 1u);
}

// Hazard N9.
TEST(pool, release_unused_gives_empty_slabs_back) {
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    std::vector<void*> slots(20'000);
    for (auto& each : slots) each = tested.allocate();
    const std::size_t held = tested.capacity();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i % 5000 != 0) tested.deallocate(slots[i]);
    }
    const std::size_t given = tested.release_unused();
    EXPECT_EQ(tested.capacity(), held - given);
    EXPECT_EQ(upstream.live_bytes(), tested.capacity());
    EXPECT_LT(tested.capacity(), held / 2);
    EXPECT_EQ(tested.live(), 4u);
    for (int i = 0; i < 20'000; ++i) std::memset(tested.allocate(), 1, 64);
    EXPECT_EQ(tested.live(), 20'004u);
}

TEST(pool, release_unused_of_all_leaves_a_pool_like_new) {
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    for (int round = 0; round < 5; ++round) {
        std::vector<void*> slots(3000);
        for (auto& each : slots) each = tested.allocate();
        for (void* each : slots) tested.deallocate(each);
        EXPECT_GT(tested.release_unused(), 0u);
        EXPECT_EQ(upstream.live_blocks(), 0u);
        EXPECT_EQ(tested.capacity(), 0u);
    }
    EXPECT_EQ(tested.release_unused(), 0u);
}

// Slabs come and go in any address order.
TEST(pool, release_unused_at_random) {
    checking_upstream upstream;
    acre::pool<128> tested{upstream};
    std::mt19937 random{3};
    std::vector<unsigned char*> slots;
    for (int round = 0; round < 60; ++round) {
        for (std::size_t n = random() % 3000; n > 0; --n) {
            slots.push_back(static_cast<unsigned char*>(tested.allocate()));
            std::memset(slots.back(), 0x5A, 128);
        }
        std::ranges::shuffle(slots, random);
        for (std::size_t n = std::min<std::size_t>(slots.size(), random() % 3200); n > 0; --n) {
            ASSERT_EQ(slots.back()[127], 0x5A);
            tested.deallocate(slots.back());
            slots.pop_back();
        }
        if (round % 3 == 0) tested.release_unused();
        ASSERT_EQ(tested.live(), slots.size());
        ASSERT_EQ(tested.capacity(), upstream.live_bytes());
    }
}

// Hazard X5.
TEST(pool, release_resets_growth) {
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    std::vector<std::size_t> first;
    for (int round = 0; round < 4; ++round) {
        const std::size_t before = upstream.sizes().size();
        for (int i = 0; i < 100'000; ++i) (void)tested.allocate();
        const std::vector<std::size_t> taken(upstream.sizes().begin() + static_cast<std::ptrdiff_t>(before),
                                             upstream.sizes().end());
        if (round == 0) first = taken;
        EXPECT_EQ(taken, first);
        tested.release();
        EXPECT_EQ(upstream.live_blocks(), 0u);
    }
}

TEST(pool, reset_frees_all_and_keeps_the_slabs) {
    checking_upstream upstream;
    acre::pool<64> tested{upstream};
    std::size_t requests = 0;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 3000; ++i) (void)tested.allocate();
        EXPECT_EQ(tested.live(), 3000u);
        tested.reset();
        EXPECT_EQ(tested.live(), 0u);
        if (round == 0) requests = upstream.requests();
    }
    EXPECT_EQ(upstream.requests(), requests);
}

// Hazard P5: and the moved-from pool works on, as an empty one.
// Hazards P5, X16.
TEST(pool, moves) {
    checking_upstream upstream;
    acre::pool<64> first{upstream};
    std::vector<void*> slots(1000);
    for (auto& each : slots) each = first.allocate();
    void* large = first.allocate(5000, 16);
    acre::pool<64> second{std::move(first)};
    EXPECT_EQ(second.live(), 1001u);
    EXPECT_EQ(first.live(), 0u);
    EXPECT_EQ(first.capacity(), 0u);
    EXPECT_TRUE(second.owns(slots[500]));
    EXPECT_TRUE(second.owns(large));
    EXPECT_FALSE(first.owns(slots[500]));
    for (void* each : slots) second.deallocate(each);
    second.deallocate(large, 5000, 16);
    EXPECT_EQ(second.used(), 0u);

    void* p = first.allocate();
    second = std::move(first);
    EXPECT_TRUE(second.owns(p));
    EXPECT_EQ(second.live(), 1u);
    EXPECT_EQ(upstream.live_bytes(), second.capacity());
    auto& same = second;
    second = std::move(same);
    EXPECT_EQ(second.live(), 1u);
}

// Hazard X13.
TEST(pool, required_bytes_are_exact_for_a_limit) {
    for (const std::size_t count : {1u, 2u, 50u, 63u, 64u, 300u, 1000u, 5000u}) {
        const std::size_t bytes = acre::pool<64>::required_bytes(count);
        checking_upstream upstream;
        acre::pool<64> fits{{.limit_bytes = bytes}, upstream};
        for (std::size_t i = 0; i < count; ++i) ASSERT_NE(fits.try_allocate(), nullptr) << i << " of " << count;
        EXPECT_EQ(upstream.total_bytes(), bytes);
        if (bytes - 8 < acre::pool<64>::geometry.first_slab_bytes) continue;
        acre::pool<64> lacks{{.limit_bytes = bytes - 8}, upstream};
        std::size_t served = 0;
        while (served < count && lacks.try_allocate() != nullptr) ++served;
        EXPECT_LT(served, count);
    }
}

// Hazard X13.
TEST(pool, required_bytes_are_what_is_asked_of_upstream) {
    for (const std::size_t count : {1u, 100u, 20'000u, 60'000u, 200'000u}) {
        checking_upstream upstream;
        acre::pool<64> tested{upstream};
        for (std::size_t i = 0; i < count; ++i) (void)tested.allocate();
        EXPECT_EQ(upstream.total_bytes(), acre::pool<64>::required_bytes(count)) << count;
    }
}

// Hazard X13.
TEST(pool, required_buffer_bytes_suffice_and_a_slab_less_does_not) {
    for (const std::size_t count : {1u, 40u, 1000u, 5000u, 200'000u}) {
        constexpr std::size_t alignment = acre::pool<64>::geometry.slab_bytes;
        const std::size_t bytes = acre::pool<64>::required_buffer_bytes(count);
        raw_storage storage{bytes, alignment};
        {
            acre::buffer exact{storage.span()};
            acre::pool<64> fits{exact};
            for (std::size_t i = 0; i < count; ++i) ASSERT_NE(fits.try_allocate(), nullptr) << i << " of " << count;
        }
        acre::buffer shorter{storage.span().first(bytes - 8)};
        acre::pool<64> lacks{shorter};
        std::size_t served = 0;
        while (served < count && lacks.try_allocate() != nullptr) ++served;
        EXPECT_LT(served, count);
    }
}

TEST(pool, the_limit_holds_for_slots_and_large_blocks_together) {
    checking_upstream upstream;
    acre::pool<64> tested{{.limit_bytes = 40'000}, upstream};
    EXPECT_NE(tested.try_allocate(20'000, 16), nullptr);
    while (tested.try_allocate() != nullptr) continue;
    EXPECT_LE(upstream.peak_bytes(), 40'000u);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(); }), outcome::limit_exceeded);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(30'000, 16); }), outcome::limit_exceeded);
    tested.release();
    EXPECT_EQ(tested.try_allocate(40'000, 16), nullptr) << "its record comes on top";
    EXPECT_NE(tested.try_allocate(39'900, 16), nullptr);
    EXPECT_LE(upstream.peak_bytes(), 40'000u);
}

TEST(pool, a_limit_below_one_slab_is_a_bad_option) {
    EXPECT_THROW(acre::pool<64>({.limit_bytes = 100}), acre::bad_option);
}

TEST(pool, lives_on_a_buffer_until_it_is_full) {
    if (acre::poisoning) GTEST_SKIP() << "the gaps between slots take room";
    raw_storage storage{256 * 1024, 64 * 1024};
    acre::buffer below{storage.span()};
    acre::pool<64> tested{below};
    std::size_t served = 0;
    while (tested.try_allocate() != nullptr) ++served;
    EXPECT_GT(served * 64, 200'000u);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(); }), outcome::out_of_memory);
    tested.reset();
    std::size_t again = 0;
    while (tested.try_allocate() != nullptr) ++again;
    EXPECT_EQ(again, served);
}

// The slab's address decides the header's offset: moves one slab over all offsets, right in front of guarded bytes.
TEST(pool, first_slabs_of_every_colour_stay_within_their_bytes) {
    constexpr auto geometry = acre::pool<64>::geometry;
    raw_storage storage{geometry.slab_bytes * 65, geometry.slab_bytes * 64};
    std::memset(storage.span().data(), 0xEE, storage.span().size());
    for (std::size_t number = 0; number < 64; ++number) {
        const auto place = storage.span().subspan(number * geometry.slab_bytes, geometry.slab_bytes);
        {
            acre::buffer first{place.first(geometry.first_slab_bytes)};
            acre::pool<64> tested{first};
            std::size_t served = 0;
            while (void* p = tested.try_allocate()) {
                std::memset(p, 1, 64);
                ++served;
            }
            EXPECT_EQ(served, tested.live()) << "slab number " << number;
            EXPECT_EQ(served, geometry.usable(geometry.first_slab_bytes)) << "slab number " << number;
        }
        for (std::size_t i = geometry.first_slab_bytes; i < place.size(); ++i) {
            ASSERT_EQ(place[i], std::byte{0xEE}) << "written past a slab, number " << number;
        }
    }
}

// Hazards B5, A9: zero bytes with a large alignment are an upstream block of their own.
TEST(pool, zero_bytes_are_nobody_elses) {
    raw_storage storage{1 << 18};
    acre::buffer below{storage.span()};
    acre::pool<16> tested{below};
    auto* zero = static_cast<std::byte*>(tested.allocate(0, 4096));
    auto* next = static_cast<std::byte*>(below.allocate(1, 1));
    EXPECT_NE(zero, next);
    EXPECT_TRUE(tested.owns(zero));
    tested.deallocate(zero, 0, 4096);
}

TEST(pool, stricter_alignments_come_with_the_size) {
    acre::pool<64> tested;
    EXPECT_TRUE((acre::pool<64>::serves(64, 64)));
    EXPECT_FALSE((acre::pool<64>::serves(64, 128)));
    EXPECT_FALSE((acre::pool<64>::serves(65, 8)));
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(acre::is_aligned(tested.allocate(10, 64), 64));
}

}  // namespace
