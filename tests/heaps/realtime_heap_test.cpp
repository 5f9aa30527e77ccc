// realtime_heap: that the arenas which required_arenas says always suffice and one fewer does not, the steps of a call,
// runs of arenas, misuse.
#include <gtest/gtest.h>

#include <acre/combine/synchronized.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/locks.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"
#include "conformance/worlds.hpp"

namespace {

using namespace acre::literals;
using acre::allocation_peak;
using acre::realtime_heap;
using acre::required_arenas;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

TEST(realtime_heap, example) {
    constexpr allocation_peak peaks[] = {{.bytes = 64, .count = 200}, {.bytes = 1024, .count = 16}};
    realtime_heap control{{.arenas = required_arenas(peaks), .bytes = 4096}};
    void* p = control.try_allocate(60);
    ASSERT_NE(p, nullptr);
    std::memset(p, 1, 60);
    EXPECT_EQ(control.busy_arenas(), 1u);
    control.deallocate(p, 60);
    EXPECT_EQ(control.busy_arenas(), 0u);
}

TEST(realtime_heap, as_in_the_design) {
    realtime_heap control{{.arenas = acre::required_arenas({{64, 200}, {1024, 16}}), .bytes = 4_KiB}};
    EXPECT_EQ(control.arenas(), 4u + 4u);
}

TEST(realtime_heap, required_arenas_are_computed_by_class) {
    static_assert(required_arenas({}) == 0);
    static_assert(required_arenas({{16, 256}}) == 1);
    static_assert(required_arenas({{16, 257}}) == 2);
    static_assert(required_arenas({{0, 1}}) == 1);
    static_assert(required_arenas({{1, 128}, {16, 128}}) == 1);  // one class
    static_assert(required_arenas({{16, 1}, {17, 1}}) == 2);     // two
    static_assert(required_arenas({{2048, 4}}) == 2);
    static_assert(required_arenas({{2049, 4}}) == 4);  // an arena each
    static_assert(required_arenas({{4097, 4}}) == 8);
    static_assert(required_arenas({{17 * 4096, 1}}) == 18);  // rounded up to a length of the ladder
    static_assert(required_arenas({{8, 4, 64}}) == 1);
    static_assert(required_arenas({{8, 65, 64}}) == 2);  // rounded up to its alignment
    static_assert(required_arenas({{100, 10}}, 64_KiB) == 1);
    // What no heap can have.
    static_assert(required_arenas({{4096, realtime_heap::max_arenas}}) == realtime_heap::max_arenas);
    static_assert(required_arenas({{4096, realtime_heap::max_arenas + 1}}) == SIZE_MAX);
    static_assert(required_arenas({{4096, realtime_heap::max_arenas}, {16, 1}}) == SIZE_MAX);
    static_assert(required_arenas({{SIZE_MAX, 1}}) == SIZE_MAX);
    static_assert(required_arenas({{16, SIZE_MAX}, {16, SIZE_MAX}}) == SIZE_MAX);
    static_assert(required_arenas({{16, 1, 3}}) == SIZE_MAX);
    static_assert(required_arenas({{16, 1, 8192}}) == SIZE_MAX);
    static_assert(required_arenas({{16, 1}}, 1000) == SIZE_MAX);
}

struct kept_block {
    void* p;
    std::size_t peak;
};

// A program that keeps to its peaks, and chooses at random what to allocate and free. In each phase it holds as many of
// some sizes as it may, and frees others, so that arenas change their class.
void keep_to(const std::vector<allocation_peak>& peaks, std::size_t arena_bytes, std::size_t steps, unsigned seed) {
    const std::size_t arenas = required_arenas(peaks, arena_bytes);
    realtime_heap tested{{.arenas = arenas, .bytes = arena_bytes, .join = false}};
    std::mt19937 random{seed};
    std::vector<kept_block> live;
    std::vector<std::size_t> held(peaks.size());
    std::vector<bool> growing(peaks.size(), true);
    for (std::size_t step = 0; step < steps; ++step) {
        if (step % 512 == 0) {
            for (std::size_t i = 0; i < peaks.size(); ++i) growing[i] = random() % 2 == 0;
        }
        const std::size_t peak = random() % peaks.size();
        const auto of_peak = [peak](const kept_block& each) { return each.peak == peak; };
        if (growing[peak] ? held[peak] < peaks[peak].count : held[peak] == 0) {
            if (!growing[peak]) continue;
            // At most as large as declared.
            const std::size_t bytes = peaks[peak].bytes;
            void* p = tested.try_allocate(bytes, peaks[peak].alignment);
            ASSERT_NE(p, nullptr) << "step " << step << " of seed " << seed << ": " << bytes << " bytes, "
                                  << tested.busy_arenas() << " of " << arenas << " arenas in use";
            ASSERT_TRUE(acre::is_aligned(p, peaks[peak].alignment));
            std::memset(p, static_cast<int>(peak), bytes);
            live.push_back({p, peak});
            ++held[peak];
        } else {
            std::swap(live[random() % live.size()], live.back());
            const auto freed = of_peak(live.back()) ? live.end() - 1 : std::find_if(live.begin(), live.end(), of_peak);
            if (freed == live.end()) continue;
            const auto* bytes = static_cast<const unsigned char*>(freed->p);
            ASSERT_TRUE(
                std::all_of(bytes, bytes + peaks[peak].bytes, [peak](unsigned char each) { return each == peak; }));
            tested.deallocate(freed->p, peaks[peak].bytes, peaks[peak].alignment);
            *freed = live.back();
            live.pop_back();
            --held[peak];
        }
    }
    EXPECT_LE(tested.most_busy_arenas(), arenas);
    EXPECT_EQ(tested.live(), live.size());
    for (const kept_block& each : live) tested.deallocate(each.p, peaks[each.peak].bytes, peaks[each.peak].alignment);
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

// Hazards X13 and X15: the theorem, and without the one loop.
TEST(realtime_heap, a_program_within_its_peaks_is_never_refused) {
    constexpr std::size_t steps = 10'000;
    constexpr unsigned seeds = acre_test::sanitized ? 1 : 6;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        keep_to({{64, 200}, {1024, 16}}, 4096, steps, seed);
        keep_to({{16, 300}, {48, 100}, {200, 70}, {2048, 5}, {3000, 7}, {4096, 3}, {9000, 4}, {80'000, 2}}, 4096, steps,
                seed);
        keep_to({{16, 5000}, {32, 1}, {40'000, 3}, {70'000, 3}, {200'000, 2}}, 64_KiB, steps, seed);
        keep_to({{1, 65}, {8, 10, 256}, {100, 4, 1024}, {500, 3}, {1024, 9}, {1025, 5}, {5000, 7}}, 1024, steps, seed);
    }
}

// Hazard X13: with every class at its peak at once, all arenas are used.
TEST(realtime_heap, with_one_arena_fewer_some_order_is_refused) {
    const std::vector<allocation_peak> peaks = {{64, 200}, {1024, 16}, {96, 50}, {3000, 4}, {9000, 3}};
    const std::size_t enough = required_arenas(peaks);
    for (const std::size_t arenas : {enough - 1, enough}) {
        realtime_heap tested{{.arenas = arenas}};
        std::size_t refused = 0;
        for (const allocation_peak& each : peaks) {
            for (std::size_t i = 0; i < each.count; ++i) refused += tested.try_allocate(each.bytes) == nullptr;
        }
        EXPECT_EQ(refused == 0, arenas == enough);
    }
}

TEST(realtime_heap, an_empty_arena_serves_another_class) {
    realtime_heap tested{{.arenas = 1, .bytes = 1024}};
    for (const std::size_t bytes : {16u, 100u, 512u, 1000u, 1024u, 32u}) {
        std::vector<void*> all;
        while (void* p = tested.try_allocate(bytes)) all.push_back(p);
        EXPECT_GE(all.size(), 1u);
        EXPECT_EQ(tested.busy_arenas(), 1u);
        EXPECT_EQ(tested.live(), all.size());
        std::shuffle(all.begin(), all.end(), std::mt19937{7});
        for (void* p : all) tested.deallocate(p, bytes);
        EXPECT_EQ(tested.busy_arenas(), 0u);
    }
}

TEST(realtime_heap, all_slots_of_every_class_are_distinct) {
    for (const std::size_t arena_bytes : {1024u, 4096u, 65536u}) {
        realtime_heap tested{{.arenas = 1, .bytes = arena_bytes}};
        for (std::size_t bytes = 16; bytes <= arena_bytes / 2; bytes += bytes / 8 < 16 ? 16 : bytes / 8 / 16 * 16) {
            std::vector<void*> all;
            while (void* p = tested.try_allocate(bytes)) {
                std::memset(p, static_cast<int>(all.size() % 251), bytes);
                all.push_back(p);
            }
            const std::size_t room = tested.usable_size(all.front());
            EXPECT_EQ(all.size(), arena_bytes / room);
            EXPECT_LT(room - bytes, bytes <= 256 ? 16 : bytes / 8 + 1);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto* filled = static_cast<const unsigned char*>(all[i]);
                ASSERT_TRUE(std::all_of(filled, filled + bytes, [i](unsigned char each) { return each == i % 251; }));
            }
            for (void* p : all) tested.deallocate_unsized(p);
        }
    }
}

TEST(realtime_heap, free_neighbours_are_joined_when_a_request_needs_them) {
    for (const bool join : {true, false}) {
        realtime_heap tested{{.arenas = 16, .bytes = 1024, .join = join}};
        std::array<void*, 16> all{};
        for (void*& each : all) each = tested.allocate(1024);
        EXPECT_EQ(tested.try_allocate(1), nullptr);
        // In an order that leaves no neighbour beside those that were never used.
        for (std::size_t i = 1; i < 16; i += 2) tested.deallocate(all[i], 1024);
        for (std::size_t i = 4; i < 12; i += 2) tested.deallocate(all[i], 1024);
        void* p = tested.try_allocate(8 * 1024);
        EXPECT_EQ(p != nullptr, join);
        if (p == nullptr) continue;
        // The rest can be had one by one.
        std::size_t others = 0;
        while (tested.try_allocate(1000) != nullptr) ++others;
        EXPECT_EQ(others, 16u - 4u - 8u);
    }
}

TEST(realtime_heap, a_long_run_is_split_for_what_is_shorter) {
    realtime_heap tested{{.arenas = 10, .bytes = 1024, .join = false}};
    void* all = tested.allocate(10 * 1024);
    void* none = tested.try_allocate(1);
    EXPECT_EQ(none, nullptr);
    tested.deallocate(all, 10 * 1024);
    void* first = tested.allocate(3 * 1024);
    void* second = tested.allocate(16);
    void* third = tested.allocate(6 * 1024);
    EXPECT_EQ(tested.busy_arenas(), 10u);
    EXPECT_EQ(tested.used(), 9 * 1024u + 16u);
    tested.deallocate(first, 3 * 1024);
    tested.deallocate(second, 16);
    tested.deallocate(third, 6 * 1024);
    EXPECT_EQ(tested.busy_arenas(), 0u);
    EXPECT_EQ(tested.most_busy_arenas(), 10u);
}

// Requests of any size against what is known of the arenas in use, with joins, so that no arena is lost or used twice.
TEST(realtime_heap, random_runs_lose_no_arena) {
    constexpr std::size_t rounds = 30'000;
    realtime_heap tested{{.arenas = 200, .bytes = 1024}};
    std::mt19937 random{11};
    struct held {
        void* p;
        std::size_t bytes;
        unsigned char filled;
    };
    std::vector<held> live;
    for (std::size_t i = 0; i < rounds; ++i) {
        const bool allocates = live.empty() || random() % 64 < (i / 2000 % 2 == 0 ? 40u : 24u);
        if (allocates) {
            const std::size_t bytes = random() % 3 == 0 ? random() % 40'000 : random() % 600;
            void* p = tested.try_allocate(bytes);
            if (p == nullptr) continue;
            std::memset(p, static_cast<int>(i), bytes);
            live.push_back({p, bytes, static_cast<unsigned char>(i)});
        } else {
            std::swap(live[random() % live.size()], live.back());
            const auto [p, bytes, filled] = live.back();
            const auto* written = static_cast<const unsigned char*>(p);
            ASSERT_TRUE(std::all_of(written, written + bytes, [f = filled](unsigned char each) { return each == f; }));
            tested.deallocate(p, bytes);
            live.pop_back();
        }
    }
    EXPECT_EQ(tested.live(), live.size());
    for (const held& each : live) tested.deallocate(each.p, each.bytes);
    EXPECT_EQ(tested.busy_arenas(), 0u);
    void* all = tested.allocate(tested.max_bytes());
    tested.deallocate(all, tested.max_bytes());
}

TEST(realtime_heap, upstream_is_asked_once_for_what_required_bytes_says) {
    checking_upstream upstream;
    constexpr acre::realtime_heap_options options{.arenas = 5, .bytes = 2048};
    {
        realtime_heap tested{options, upstream};
        EXPECT_EQ(upstream.requests(), 1u);
        EXPECT_EQ(upstream.live_bytes(), realtime_heap::required_bytes(options));
        EXPECT_EQ(tested.capacity(), 5 * 2048u);
        EXPECT_EQ(tested.max_bytes(), 5 * 2048u);
        while (tested.try_allocate(100) != nullptr) continue;
        EXPECT_EQ(upstream.requests(), 1u);
        tested.reset();
        EXPECT_EQ(tested.busy_arenas(), 0u);
        EXPECT_NE(tested.try_allocate(5 * 2048), nullptr);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

TEST(realtime_heap, refuses_by_name) {
    realtime_heap tested{{.arenas = 17, .bytes = 1024}};
    EXPECT_EQ(outcome_of([&] { return tested.allocate(16 * 1024 + 1); }), refused_as(outcome::request_too_large));
    EXPECT_EQ(outcome_of([&] { return tested.allocate(16, 2048); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return tested.allocate(16, 3); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return tested.allocate(16, 0); }), refused_as(outcome::bad_alignment));
    void* most = tested.allocate(16 * 1024);
    void* last = tested.allocate(1024);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(1); }), refused_as(outcome::out_of_arenas));
    tested.deallocate(most, 16 * 1024);
    tested.deallocate(last, 1024);
}

TEST(realtime_heap, options_out_of_range_are_refused) {
#if defined(__cpp_exceptions)
    const auto refused = [](acre::realtime_heap_options options) {
        try {
            realtime_heap tested{options};
        } catch (const acre::bad_option& error) {
            return std::string{error.option()};
        }
        return std::string{};
    };
    EXPECT_EQ(refused({}), "arenas");
    EXPECT_EQ(refused({.arenas = realtime_heap::max_arenas + 1}), "arenas");
    EXPECT_EQ(refused({.arenas = required_arenas({{16, SIZE_MAX}})}), "arenas");
    EXPECT_EQ(refused({.arenas = 1, .bytes = 512}), "bytes");
    EXPECT_EQ(refused({.arenas = 1, .bytes = 3000}), "bytes");
    EXPECT_EQ(refused({.arenas = 1, .bytes = 128_KiB}), "bytes");
#endif
}

TEST(realtime_heap, threads_share_one_behind_a_lock) {
    acre::synchronized<realtime_heap> shared{acre::realtime_heap_options{.arenas = 4}};
    void* p = shared.allocate(100);
    shared.deallocate(p, 100);
}

class realtime_heap_misuse : public testing::Test {
protected:
    realtime_heap tested{{.arenas = 8, .bytes = 1024}};
};

TEST_F(realtime_heap_misuse, double_free_of_a_slot) {
    void* other = tested.allocate(64);
    void* p = tested.allocate(64);
    tested.deallocate(p, 64);
    EXPECT_DEATH(tested.deallocate(p, 64), "acre::realtime_heap: double free");
    EXPECT_DEATH((void)tested.usable_size(p), "acre::realtime_heap: used after it was freed");
    tested.deallocate(other, 64);
    // Now its arena is free.
    EXPECT_DEATH(tested.deallocate(p, 64), "acre::realtime_heap: double free");
    EXPECT_DEATH(tested.deallocate_unsized(p), "acre::realtime_heap: double free");
}

TEST_F(realtime_heap_misuse, double_free_of_a_run) {
    void* p = tested.allocate(3000);
    tested.deallocate(p, 3000);
    EXPECT_DEATH(tested.deallocate(p, 3000), "acre::realtime_heap: double free");
    void* shorter = tested.allocate(2000);
    EXPECT_DEATH(tested.deallocate(shorter, 3000), "another size or alignment");
    tested.deallocate(shorter, 2000);
}

TEST_F(realtime_heap_misuse, a_pointer_into_an_allocation) {
    auto* slot = static_cast<std::byte*>(tested.allocate(64));
    EXPECT_DEATH(tested.deallocate(slot + 8, 64), "into the middle of a slot");
    EXPECT_DEATH(tested.deallocate_unsized(slot + 8), "into the middle of a slot");
    auto* run = static_cast<std::byte*>(tested.allocate(3000));
    EXPECT_DEATH(tested.deallocate(run + 16, 3000), "into the middle of an allocation");
    EXPECT_DEATH(tested.deallocate(run + 1024, 16), "into the middle of an allocation");
    EXPECT_DEATH((void)tested.usable_size(run + 2048),
                 "the size of a pointer into the middle of an allocation was asked for");
}

TEST_F(realtime_heap_misuse, another_size) {
    void* p = tested.allocate(64);
    EXPECT_DEATH(tested.deallocate(p, 80), "another size or alignment");
    EXPECT_DEATH(tested.deallocate(p, 800), "another size or alignment");
    void* run = tested.allocate(3000);
    EXPECT_DEATH(tested.deallocate(run, 64), "another size or alignment");
    EXPECT_DEATH(tested.deallocate(run, SIZE_MAX), "another size or alignment");
}

TEST_F(realtime_heap_misuse, a_pointer_of_another_resource) {
    int other = 0;
    EXPECT_DEATH(tested.deallocate(&other, sizeof other), "a pointer of another resource was freed");
    EXPECT_DEATH((void)tested.usable_size(&other), "a pointer of another resource was asked for");
    // An arena that was never used, and one that no arena follows.
    EXPECT_DEATH(tested.deallocate(static_cast<std::byte*>(tested.allocate(16)) + 4096, 16), "double free");
}

}  // namespace
