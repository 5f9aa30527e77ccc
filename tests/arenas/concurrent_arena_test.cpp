// acre::concurrent_arena: parallel threads that start and end, resets, limits, and the child after a fork.
#include <acre/arenas/concurrent_arena.hpp>

#include <gtest/gtest.h>

#include <acre/core/error.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::concurrent_arena;
using acre::concurrent_arena_options;
using acre_test::busy_threads;
using acre_test::checking_upstream;
using acre_test::in_child;
using acre_test::in_threads;
using acre_test::patterned_block;

struct node {
    explicit node(int k) : key(k) {}
    int key;
};

TEST(concurrent_arena, example) {
    acre::concurrent_arena frame;
    std::thread{[&] { EXPECT_EQ(frame.create<node>(7)->key, 7); }}.join();
    EXPECT_EQ(frame.copy("a text"), "a text");
    EXPECT_EQ(frame.allocate<double>(100).size(), 100u);
    frame.reset();
    EXPECT_EQ(frame.used(), 0u);
}

TEST(concurrent_arena, takes_nothing_before_the_first_use) {
    checking_upstream upstream;
    concurrent_arena tested{upstream};
    in_threads(4, [](std::size_t) {});
    EXPECT_EQ(upstream.requests(), 0u);
    EXPECT_EQ(tested.capacity(), 0u);
}

TEST(concurrent_arena, a_thread_that_allocates_little_takes_little) {
    checking_upstream upstream;
    concurrent_arena tested{upstream};
    std::latch allocated{16};
    std::latch looked{1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i) {
        threads.emplace_back([&] {
            (void)tested.allocate(24);
            allocated.count_down();
            looked.wait();
        });
    }
    allocated.wait();
    EXPECT_LE(tested.used(), 16 * 1100u);
    EXPECT_EQ(tested.capacity(), upstream.live_bytes());
    looked.count_down();
    for (std::thread& each : threads) each.join();
}

TEST(concurrent_arena, the_window_of_an_ended_thread_serves_the_next) {
    concurrent_arena tested;
    for (int i = 0; i < 40; ++i) {
        std::thread{[&] { (void)tested.allocate(16); }}.join();
    }
    EXPECT_LE(tested.used(), 1100u + 150 * acre::redzone_bytes);
}

TEST(concurrent_arena, several_in_one_thread_keep_their_windows) {
    concurrent_arena first;
    concurrent_arena second;
    for (int i = 0; i < 50; ++i) {
        auto* p = static_cast<std::byte*>(first.allocate(8, 8));
        auto* q = static_cast<std::byte*>(second.allocate(8, 8));
        EXPECT_EQ(static_cast<std::byte*>(first.allocate(8, 8)) - p, std::ptrdiff_t{8 + acre::redzone_bytes});
        EXPECT_EQ(static_cast<std::byte*>(second.allocate(8, 8)) - q, std::ptrdiff_t{8 + acre::redzone_bytes});
    }
    EXPECT_LE(first.used(), 1100u + 200 * acre::redzone_bytes);
    EXPECT_LE(second.used(), 1100u + 200 * acre::redzone_bytes);
}

TEST(concurrent_arena, the_limit_is_kept) {
    checking_upstream upstream;
    concurrent_arena tested{{.limit_bytes = 100'000, .window_bytes = 4096}, upstream};
    std::size_t count = 0;
    while (tested.try_allocate(100, 8) != nullptr) ++count;
    EXPECT_GT(count, acre::poisoning ? 600u : 800u);
    EXPECT_LE(upstream.live_bytes(), 100'000u + 64);  // and where it knows its threads from
#if defined(__cpp_exceptions)
    EXPECT_THROW((void)tested.allocate(100, 8), acre::limit_exceeded);
    EXPECT_THROW((void)tested.allocate(8, 3), acre::bad_alignment);
    EXPECT_THROW((concurrent_arena{concurrent_arena_options{.window_bytes = 60}}), acre::bad_option);
    EXPECT_THROW((concurrent_arena{concurrent_arena_options{.window_bytes = 100}}), acre::bad_option);
#endif
    tested.reset();
    EXPECT_NE(tested.try_allocate(100, 8), nullptr);
}

#if defined(__cpp_exceptions)
// Also where the arena of its blocks is what refuses.
TEST(concurrent_arena, errors_have_its_name) {
    const auto name_of_error = [](auto fails) -> std::string {
        try {
            fails();
        } catch (const acre::allocation_error& error) {
            return error.resource();
        }
        return "no error";
    };
    const std::string name = concurrent_arena::name;
    concurrent_arena limited{{.limit_bytes = 100}};
    concurrent_arena empty{acre::no_memory{}};
    EXPECT_EQ(name_of_error([&] { (void)limited.allocate(1000); }), name) << "limit_exceeded";
    EXPECT_EQ(name_of_error([&] { (void)limited.allocate(SIZE_MAX); }), name) << "request_too_large";
    EXPECT_EQ(name_of_error([&] { (void)limited.allocate(8, 3); }), name) << "bad_alignment";
    EXPECT_EQ(name_of_error([&] { (void)empty.allocate(10); }), name) << "out_of_memory";
    EXPECT_EQ(name_of_error([] { concurrent_arena{concurrent_arena_options{.first_block_bytes = 1}}; }), name);
    EXPECT_EQ(name_of_error([] { concurrent_arena{concurrent_arena_options{.max_block_bytes = 1}}; }), name);
    EXPECT_EQ(name_of_error([] { concurrent_arena{concurrent_arena_options{.window_bytes = 1}}; }), name);
}
#endif

// Sizes and alignments at the edges of windows.
TEST(concurrent_arena, windows_end_where_they_end) {
    concurrent_arena tested{{.window_bytes = 64}};
    std::vector<patterned_block> made;
    std::mt19937 random{3};
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::size_t bytes = random() % 100;
        const std::size_t alignment = std::size_t{1} << random() % 8;
        made.push_back({tested.allocate(bytes, alignment), bytes, i + 1});
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(made.back().p) % alignment, 0u);
        made.back().fill();
    }
    for (const patterned_block& each : made) ASSERT_TRUE(each.is_whole());
}

class concurrent_arena_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, concurrent_arena_threads, testing::Values(4, 16));

// Hazard M20.
TEST_P(concurrent_arena_threads, blocks_are_apart_over_resets) {
    checking_upstream upstream;
    {
        concurrent_arena tested{upstream};
        for (int round = 0; round < 4; ++round) {
            in_threads(GetParam(), [&](std::size_t self) {
                std::mt19937 random{static_cast<unsigned>(self)};
                std::vector<patterned_block> made;
                for (std::uint64_t i = 0; i < 1000; ++i) {
                    const std::size_t bytes = random() % 50 == 0 ? random() % 20'000 : random() % 200;
                    made.push_back({tested.allocate(bytes, 8), bytes, std::uint64_t{self + 1} << 40 | i});
                    made.back().fill();
                    if (i % 100 == 0) {
                        EXPECT_TRUE(tested.owns(made.back().p));
                    }
                }
                for (const patterned_block& each : made) EXPECT_TRUE(each.is_whole()) << "another thread wrote here";
            });
            EXPECT_EQ(tested.capacity(), upstream.live_bytes());
            tested.reset(round % 2 == 0 ? acre::keep_all : acre::release);
            EXPECT_EQ(tested.used(), 0u);
        }
    }
    EXPECT_EQ(upstream.live_bytes(), 0u);
}

TEST(concurrent_arena_ends, threads_may_end_while_the_arena_does) {
    for (int round = 0; round < 100; ++round) {
        auto tested = std::make_unique<concurrent_arena>();
        std::latch used{3};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                for (std::size_t k = 1; k < 200; ++k) (void)tested->allocate(7 * k);
                used.count_down();
            });
        }
        used.wait();
        if (round % 2 == 1) tested->reset();
        tested.reset();
        for (std::thread& each : threads) each.join();
    }
}

#if !defined(NDEBUG)
// Resets the arena from another thread while it serves a request.
class resets_meanwhile {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) { return try_allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (arena != nullptr) {
            concurrent_arena* reset = std::exchange(arena, nullptr);
            std::thread{[reset] { reset->reset(); }}.join();
        }
        return acre::heap{}.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        acre::heap{}.deallocate(p, bytes, alignment);
    }
    concurrent_arena* arena = nullptr;
};

TEST(concurrent_arena_misuse, a_reset_during_an_allocation_is_reported) {
    EXPECT_DEATH(
        {
            resets_meanwhile upstream;
            concurrent_arena tested{upstream};
            upstream.arena = &tested;
            (void)tested.allocate(100);
        },
        "while a thread allocated");
}
#endif

TEST(concurrent_arena_fork, the_child_goes_on) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    concurrent_arena tested;
    const busy_threads others{3, [&] {
                                  (void)tested.allocate(100);
                                  std::this_thread::yield();
                              }};
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(in_child([&] {
                      for (int k = 0; k < 1000; ++k) (void)tested.allocate(100);
                      tested.reset();
                      return tested.owns(tested.allocate(5000, 64)) ? 0 : 1;
                  }),
                  0);
    }
}

}  // namespace
