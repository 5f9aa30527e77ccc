// acre::concurrent_multi_arena: frees by other threads, more threads than arenas, threads that end, limits, misuse, and
// the child after a fork.
#include <acre/arenas/concurrent_multi_arena.hpp>

#include <gtest/gtest.h>

#include <acre/memory/buffer.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/worlds.hpp"
#include "sizes.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::concurrent_multi_arena;
using acre::concurrent_multi_arena_options;
using acre_test::checking_upstream;
using acre_test::heap_survives_forks;
using acre_test::in_child;
using acre_test::in_threads;
using acre_test::patterned_block;

// Requires that no other thread has an arena open. This thread then fills every arena to the last byte: no storage is
// lost or handed out twice.
template <class Arenas>
void expect_all_free(Arenas& tested) {
    EXPECT_EQ(tested.allocations(), 0u);
    EXPECT_EQ(tested.busy_arenas(), 0u);
    std::set<void*> whole;
    while (void* p = tested.try_allocate(tested.arena_bytes())) EXPECT_TRUE(whole.insert(p).second);
    EXPECT_EQ(whole.size(), tested.arenas());
    EXPECT_EQ(tested.busy_arenas(), tested.arenas());
    for (void* p : whole) tested.deallocate(p, tested.arena_bytes());
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

TEST(concurrent_multi_arena, example) {
    concurrent_multi_arena frames{{.arenas = 64, .bytes = 64 * 1024}};
    void* frame = frames.allocate(1000);
    EXPECT_EQ(frames.busy_arenas(), 1u);
    std::thread{[&] { frames.deallocate(frame, 1000); }}.join();
    EXPECT_EQ(frames.busy_arenas(), 0u);
}

TEST(concurrent_multi_arena, example_of_the_inline_form) {
    static acre::inline_concurrent_multi_arena<16, 1024> messages;
    static_assert(messages.arenas() == 16 && messages.arena_bytes() == 1024 && messages.capacity() == 16 * 1024);
    void* message = messages.allocate(100);
    EXPECT_TRUE(messages.owns(message));
    EXPECT_LT(static_cast<std::size_t>(static_cast<char*>(message) - reinterpret_cast<char*>(&messages)),
              sizeof messages);
    std::thread{[&] { messages.deallocate(message, 100); }}.join();
    EXPECT_EQ(messages.allocations(), 0u);
}

TEST(concurrent_multi_arena, upstream_is_asked_once_for_what_required_bytes_says) {
    checking_upstream upstream;
    constexpr concurrent_multi_arena_options options{.arenas = 11, .bytes = 1000};
    {
        concurrent_multi_arena tested{options, upstream};
        EXPECT_EQ(upstream.requests(), 1u);
        EXPECT_EQ(upstream.live_bytes(), concurrent_multi_arena::required_bytes(options));
        EXPECT_EQ(tested.arena_bytes(), acre::align_up(1000, acre::default_alignment));
        in_threads(20, [&](std::size_t) {
            for (int i = 0; i < 100; ++i) tested.deallocate(tested.try_allocate(100), 100);
        });
        EXPECT_EQ(upstream.requests(), 1u);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Hazard X13.
TEST(concurrent_multi_arena, required_bytes_suffice_and_less_does_not) {
    constexpr concurrent_multi_arena_options options{.arenas = 10, .bytes = 1024};
    constexpr std::size_t bytes = concurrent_multi_arena::required_bytes(options);
    const acre_test::raw_storage storage{bytes};
    acre::buffer enough{storage.span()};
    EXPECT_NE((concurrent_multi_arena{options, enough}.try_allocate(1)), nullptr);
    static_assert(concurrent_multi_arena::required_bytes({.arenas = 2, .bytes = SIZE_MAX}) == SIZE_MAX);
    static_assert(concurrent_multi_arena::required_bytes({.arenas = SIZE_MAX / 64, .bytes = 64}) == SIZE_MAX);
#if defined(__cpp_exceptions)
    acre::buffer less{storage.span().first(bytes - 8)};
    EXPECT_THROW((concurrent_multi_arena{options, less}), acre::allocation_error);
    EXPECT_THROW((concurrent_multi_arena{concurrent_multi_arena_options{}}), acre::bad_option);
    EXPECT_THROW((concurrent_multi_arena{{.arenas = 1}}), acre::bad_option);
    EXPECT_THROW((concurrent_multi_arena{{.arenas = std::size_t{1} << 24, .bytes = 16}}), acre::bad_option);
    EXPECT_THROW((concurrent_multi_arena{{.arenas = 2, .bytes = SIZE_MAX}}), acre::bad_option);
#endif
}

// A single thread needs as many arenas as with multi_arena.
// Hazard X13.
TEST(concurrent_multi_arena, required_arenas_are_exact) {
    for (const std::size_t size : {0u, 1u, 16u, 17u, 60u, 500u, 1008u}) {
        const std::size_t needed = concurrent_multi_arena::required_arenas(1008, 57, size);
        for (const std::size_t less : {0u, 1u}) {
            if (needed == less) continue;
            concurrent_multi_arena tested{{.arenas = needed - less, .bytes = 1008}};
            std::size_t served = 0;
            while (served < 57 && tested.try_allocate(size) != nullptr) ++served;
            EXPECT_EQ(served == 57, less == 0) << size;
        }
    }
}

// Hazards M1, M3, M4.
TEST(concurrent_multi_arena, freed_arenas_are_always_reused) {
    for (const std::size_t arenas : {1u, 2u, 3u, 4u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 256}};
        for (int i = 0; i < 1000; ++i) {
            void* p = tested.try_allocate(256);
            ASSERT_NE(p, nullptr) << arenas << " arenas, round " << i;
            tested.deallocate(p, 256);
            void* small = tested.try_allocate(1);
            ASSERT_NE(small, nullptr);
            tested.deallocate(small, 1);
        }
        for (const std::size_t bytes : {std::size_t{257}, acre_test::beyond_32_bits, SIZE_MAX}) {
            EXPECT_EQ(tested.try_allocate(bytes), nullptr);
        }
        EXPECT_EQ(tested.try_allocate(8, 3), nullptr);
        expect_all_free(tested);
    }
}

#if defined(__cpp_exceptions)
TEST(concurrent_multi_arena, errors_say_what_is_wrong_and_work_goes_on) {
    concurrent_multi_arena tested{{.arenas = 3, .bytes = 64}};
    EXPECT_THROW((void)tested.allocate(65), acre::request_too_large);
    EXPECT_THROW((void)tested.allocate(8, 3), acre::bad_alignment);
    std::vector<void*> all;
    for (int i = 0; i < 3; ++i) all.push_back(tested.allocate(64));
    EXPECT_THROW((void)tested.allocate(1), acre::out_of_arenas);
    try {
        (void)tested.allocate(1);
        ADD_FAILURE();
    } catch (const acre::out_of_arenas& error) {
        EXPECT_NE(std::string{error.what()}.find("acre::concurrent_multi_arena"), std::string::npos) << error.what();
    }
    for (void* p : all) tested.deallocate(p, 64);
    expect_all_free(tested);
}
#endif

// Hazards M2, M5, M6.
TEST(concurrent_multi_arena, every_alignment) {
    concurrent_multi_arena tested{{.arenas = 8, .bytes = 8192}};
    for (int round = 0; round < 200; ++round) {
        for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
            void* p = tested.allocate(48, alignment);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
            void* q = tested.allocate(0, alignment);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(q) % alignment, 0u);
            ASSERT_NE(p, q);
            tested.deallocate(p, 48, alignment);
            tested.deallocate(q, 0, alignment);
        }
    }
    expect_all_free(tested);
}

TEST(concurrent_multi_arena, the_last_allocation_is_given_back_at_once_and_resized) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 1024}};
    void* kept = tested.allocate(16);
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 1008));
    EXPECT_FALSE(tested.try_resize(p, 1008, 1024));
    EXPECT_TRUE(tested.try_resize(p, 1008, 20));
    tested.deallocate(p, 20);
    EXPECT_EQ(tested.allocate(200), p);
    EXPECT_FALSE(tested.try_resize(kept, 16, 32)) << "something lies behind it";
    EXPECT_TRUE(tested.try_resize(kept, 16, 8));
    std::thread{[&] {
        EXPECT_FALSE(tested.try_resize(p, 200, 300)) << "another thread allocates behind it";
        EXPECT_TRUE(tested.try_resize(p, 200, 100));
    }}.join();
    EXPECT_EQ(tested.allocations(), 2u);
}

// Hazard B5.
TEST(concurrent_multi_arena, zero_bytes_are_freed) {
    for (const std::size_t arenas : {1u, 4u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 1024}};
        void* p = tested.allocate(0);
        void* q = tested.allocate(0);
        EXPECT_NE(p, q);
        tested.deallocate(p, 0);
        std::thread{[&] { tested.deallocate(q, 0); }}.join();
        void* shrunk = tested.allocate(100);
        EXPECT_TRUE(tested.try_resize(shrunk, 100, 0));
        tested.deallocate(shrunk, 0);
        expect_all_free(tested);
    }
}

TEST(concurrent_multi_arena, the_shared_arena_takes_its_last_allocation_back) {
    concurrent_multi_arena tested{{.arenas = 1, .bytes = 1024}};
    void* kept = tested.allocate(16);
    for (int i = 0; i < 1000; ++i) {
        void* p = tested.try_allocate(100, 64);
        ASSERT_NE(p, nullptr) << i;
        tested.deallocate(p, 100, 64);
    }
    tested.deallocate(kept, 16);
    expect_all_free(tested);
}

// The positions in very large arenas do not fit one word with the counts; required_arenas() must still suffice.
// Hazard X13.
TEST(concurrent_multi_arena, required_arenas_of_large_arenas) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    static_assert(concurrent_multi_arena::required_arenas(64 * mebibyte, 4 * mebibyte, 16) ==
                  (acre::default_alignment == 16 ? 1 : 2));
    static_assert(concurrent_multi_arena::required_arenas(256 * mebibyte, 16 * mebibyte, 16) == 2);
    for (const std::size_t bytes : {64 * mebibyte, 256 * mebibyte}) {
        const std::size_t size = 1008;
        const std::size_t count = bytes / size;
        concurrent_multi_arena tested{
            {.arenas = concurrent_multi_arena::required_arenas(bytes, count, size), .bytes = bytes}};
        std::size_t served = 0;
        while (served < count && tested.try_allocate(size) != nullptr) ++served;
        EXPECT_EQ(served, count);
        EXPECT_LE(tested.used(), tested.capacity());
    }
    concurrent_multi_arena odd{{.arenas = 1, .bytes = 256 * mebibyte + 16}};
    EXPECT_NE(odd.try_allocate(256 * mebibyte + 16), nullptr);
    EXPECT_LE(odd.used(), odd.capacity());
}

// The end of one arena is the start of the next, so a block at that end must not pass as the next arena's last one.
TEST(concurrent_multi_arena, what_ends_where_the_open_arena_begins_is_not_its_last) {
    acre::inline_concurrent_multi_arena<4, 64> tested;
    void* first = nullptr;
    std::thread{[&] { first = tested.allocate(64); }}.join();
    void* second = tested.allocate(64);
    ASSERT_EQ(static_cast<std::byte*>(second) - static_cast<std::byte*>(first),
              static_cast<std::ptrdiff_t>(acre::detail::stretched(64)));
    tested.deallocate(second, 64);
    EXPECT_FALSE(tested.try_resize(first, 64, 80));
    tested.deallocate(first, 64);
    expect_all_free(tested);
}

// A thread reuses its open arena after other threads have freed everything in it.
TEST(concurrent_multi_arena, the_open_arena_is_reused_after_others_freed_it) {
    concurrent_multi_arena tested{{.arenas = 2, .bytes = 256}};
    for (int round = 0; round < 100; ++round) {
        std::vector<void*> sent;
        for (int i = 0; i < 16; ++i) sent.push_back(tested.try_allocate(16));
        ASSERT_EQ(std::count(sent.begin(), sent.end(), nullptr), 0) << round;
        std::thread{[&] {
            for (void* p : sent) tested.deallocate(p, 16);
        }}.join();
    }
    EXPECT_EQ(tested.busy_arenas(), 0u);
    EXPECT_EQ(tested.used(), 0u);
}

// All the blocks of `bytes` bytes that the arenas have room for.
std::vector<void*> filled(concurrent_multi_arena& arenas, std::size_t bytes) {
    std::vector<void*> all;
    while (void* p = arenas.try_allocate(bytes)) all.push_back(p);
    return all;
}
void free_in_order(concurrent_multi_arena& arenas, const std::vector<void*>& all, std::size_t bytes) {
    for (void* p : all) arenas.deallocate(p, bytes);
}

// Frees from the front give the last block's room back first; what is in front of it must not be lost.
TEST(concurrent_multi_arena, arenas_emptied_from_the_front_are_filled_again) {
    for (const std::size_t arenas : {1u, 2u, 3u, 4u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 1024}};
        for (int round = 0; round < 4; ++round) {
            const std::vector<void*> all = filled(tested, 64);
            EXPECT_EQ(all.size(), arenas * 16) << round;
            free_in_order(tested, all, 64);
            EXPECT_EQ(tested.used(), 0u);
        }
        expect_all_free(tested);
    }
}

TEST(concurrent_multi_arena, arenas_emptied_by_two_threads_are_filled_again) {
    for (const std::size_t arenas : {1u, 2u, 4u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 1024}};
        for (int round = 0; round < 20; ++round) {
            std::vector<void*> here = filled(tested, 64);
            EXPECT_EQ(here.size(), arenas * 16) << round;
            const std::vector<void*> there{here.begin() + static_cast<std::ptrdiff_t>(here.size() / 2), here.end()};
            here.resize(here.size() / 2);
            std::thread other{[&] { free_in_order(tested, there, 64); }};
            free_in_order(tested, here, 64);
            other.join();
        }
        expect_all_free(tested);
    }
}

TEST(concurrent_multi_arena, two_threads_free_each_others_blocks) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 1024}};
    std::vector<void*> blocks[2];
    std::barrier all_here{2};
    in_threads(2, [&](std::size_t self) {
        for (int round = 0; round < 50; ++round) {
            for (int i = 0; i < 16; ++i) blocks[self].push_back(tested.try_allocate(64));
            EXPECT_EQ(std::count(blocks[self].begin(), blocks[self].end(), nullptr), 0) << round;
            all_here.arrive_and_wait();
            free_in_order(tested, blocks[1 - self], 64);
            blocks[1 - self].clear();
            all_here.arrive_and_wait();
        }
    });
    expect_all_free(tested);
}

// A thread notices what others freed in its arena when that is full. Until then it goes on behind its last block.
TEST(concurrent_multi_arena, frees_by_others_keep_an_arena_from_its_front_once_at_most) {
    concurrent_multi_arena tested{{.arenas = 2, .bytes = 1024}};
    std::vector<void*> all = filled(tested, 64);
    std::thread{[&] { tested.deallocate(all.front(), 64); }}.join();
    all.erase(all.begin());
    for (const std::size_t room : {17u, 32u, 32u}) {
        free_in_order(tested, all, 64);
        EXPECT_EQ(tested.allocations(), 0u);
        all = filled(tested, 64);
        EXPECT_EQ(all.size(), room);
    }
}

TEST(concurrent_multi_arena, a_thread_that_ends_leaves_its_arena) {
    concurrent_multi_arena tested{{.arenas = 2, .bytes = 256}};
    void* last = nullptr;
    for (int i = 0; i < 200; ++i) {
        std::thread{[&] {
            void* p = tested.try_allocate(16);
            ASSERT_NE(p, nullptr) << "round " << i;
            if (last != nullptr) tested.deallocate(last, 16);
            last = p;
        }}.join();
    }
    EXPECT_EQ(tested.allocations(), 1u);
    tested.deallocate(last, 16);
    expect_all_free(tested);
}

TEST(concurrent_multi_arena, fewer_arenas_than_threads) {
    for (const std::size_t arenas : {1u, 2u, 5u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 8192}};
        std::atomic<std::size_t> served{0};
        in_threads(16, [&](std::size_t self) {
            for (std::uint64_t i = 0; i < 2000; ++i) {
                const patterned_block block{tested.try_allocate(40), 40, std::uint64_t{self + 1} << 40 | i};
                if (block.p == nullptr) continue;
                served.fetch_add(1, std::memory_order_relaxed);
                block.fill();
                EXPECT_TRUE(block.is_whole()) << "another thread wrote here";
                tested.deallocate(block.p, block.bytes);
            }
        });
        // At most 16 blocks are live, but an arena is reused only when none of them lies in it.
        EXPECT_GT(served.load(), 1000u) << arenas;
        expect_all_free(tested);
    }
}

TEST(concurrent_multi_arena, threads_without_an_arena_of_their_own_share_one) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 4096}};
    std::latch allocated{8};
    std::latch looked{1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            void* p = tested.allocate(16);
            allocated.count_down();
            looked.wait();
            tested.deallocate(p, 16);
        });
    }
    allocated.wait();
    EXPECT_EQ(tested.busy_arenas(), 3u) << "two threads have one each, six share";
    EXPECT_EQ(tested.allocations(), 8u);
    EXPECT_EQ(tested.used(), 8 * 16u);
    looked.count_down();
    for (std::thread& each : threads) each.join();
    expect_all_free(tested);
}

TEST(concurrent_multi_arena, reset_takes_all_back) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 256}};
    for (int round = 0; round < 3; ++round) {
        in_threads(8, [&](std::size_t) {
            while (tested.try_allocate(32) != nullptr) {
            }
        });
        (void)tested.try_allocate(32);
        tested.reset();
        EXPECT_EQ(tested.used(), 0u);
        expect_all_free(tested);
    }
}

TEST(concurrent_multi_arena, several_in_one_thread) {
    concurrent_multi_arena first{{.arenas = 2, .bytes = 1024}};
    auto second = std::make_unique<concurrent_multi_arena>(concurrent_multi_arena_options{.arenas = 2, .bytes = 1024});
    for (int i = 0; i < 10; ++i) {
        void* p = first.allocate(8);
        void* q = second->allocate(8);
        EXPECT_TRUE(first.owns(p) && !first.owns(q) && second->owns(q));
        first.deallocate(p, 8);
        second = std::make_unique<concurrent_multi_arena>(concurrent_multi_arena_options{.arenas = 2, .bytes = 1024});
    }
    expect_all_free(first);
}

class concurrent_multi_arena_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, concurrent_multi_arena_threads, testing::Values(2, 4, 16));

// Hazards M20, M23, under ThreadSanitizer: any thread frees, threads end, with few and with many arenas.
TEST_P(concurrent_multi_arena_threads, allocate_here_free_there) {
    for (const std::size_t arenas : {3u, 64u, 4000u}) {
        concurrent_multi_arena tested{{.arenas = arenas, .bytes = 400}};
        acre_test::allocate_here_free_there(
            GetParam(), 40, 1500, [&] { return tested.try_allocate(40); }, [&](void* p) { tested.deallocate(p, 40); });
        expect_all_free(tested);
    }
}

// Hazard M20.
TEST_P(concurrent_multi_arena_threads, the_inline_form) {
    acre::inline_concurrent_multi_arena<20, 1024> tested;
    acre_test::allocate_here_free_there(
        GetParam(), 64, 1500, [&] { return tested.try_allocate(64); }, [&](void* p) { tested.deallocate(p, 64); });
    expect_all_free(tested);
}

TEST(concurrent_multi_arena, in_the_child_after_a_fork) {
    if (!heap_survives_forks) GTEST_SKIP() << "this sanitizer's heap does not survive a fork beside threads";
    concurrent_multi_arena tested{{.arenas = 64, .bytes = 1024}};
    void* before = tested.allocate(100);
    std::atomic<bool> stop{false};
    std::thread other{[&] {
        while (!stop) tested.deallocate(tested.allocate(50), 50);
    }};
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(in_child([&] {
                      tested.deallocate(before, 100);
                      for (int j = 0; j < 1000; ++j) {
                          void* p = tested.try_allocate(500);
                          if (p == nullptr) return 1;
                          tested.deallocate(p, 500);
                      }
                      return 0;
                  }),
                  0);
    }
    stop = true;
    other.join();
    tested.deallocate(before, 100);
    expect_all_free(tested);
}

// A thread_local object frees and allocates at the end of its thread, before or after the thread's arena is closed.
struct at_the_end {
    concurrent_multi_arena* used = nullptr;
    void* kept = nullptr;
    ~at_the_end() {
        if (used == nullptr) return;
        used->deallocate(kept, 10);
        used->deallocate(used->allocate(20), 20);
    }
};
at_the_end& at_the_end_of_thread() {
    thread_local at_the_end ends;
    return ends;
}

TEST(concurrent_multi_arena, from_destructors_of_thread_locals) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 256}};
    for (const bool first : {true, false}) {
        std::thread{[&] {
            if (first) (void)at_the_end_of_thread();
            void* p = tested.allocate(10);
            at_the_end_of_thread().used = &tested;
            at_the_end_of_thread().kept = p;
        }}.join();
        EXPECT_EQ(tested.allocations(), 0u);
    }
    expect_all_free(tested);
}

// Hazards M8, M15.
TEST(concurrent_multi_arena_death, misuse_ends_the_program_with_a_sentence) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 256}};
    concurrent_multi_arena other{{.arenas = 4, .bytes = 256}};
    void* p = tested.allocate(16);
    EXPECT_DEATH(other.deallocate(p, 16), "acre::concurrent_multi_arena: a pointer of another resource was freed");
    tested.deallocate(p, 16);
    EXPECT_DEATH(tested.deallocate(p, 16), "acre::concurrent_multi_arena: double free");
    EXPECT_DEATH(std::thread([&] {
                     void* mine = tested.allocate(16);
                     std::thread{[&] { tested.deallocate(mine, 16); }}.join();
                     std::thread{[&] { tested.deallocate(mine, 16); }}.join();
                 }).join(),
                 "acre::concurrent_multi_arena: double free");
}

// In an open arena a double free is found when the arena is reused.
// Hazard M8.
TEST(concurrent_multi_arena_death, others_free_twice_in_the_open_arena) {
    concurrent_multi_arena tested{{.arenas = 4, .bytes = 1024}};
    EXPECT_DEATH(
        {
            void* p = tested.allocate(64);
            for (int i = 0; i < 2; ++i) std::thread{[&] { tested.deallocate(p, 64); }}.join();
            (void)tested.allocate(1000);
        },
        "acre::concurrent_multi_arena: double free");
}

}  // namespace
