// multi_arena: the order in which arenas are used and reused, requests that do not fit, limits, misuse.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/observe/statistics.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/live_model.hpp"
#include "conformance/refusal.hpp"
#include "conformance/worlds.hpp"
#include "sizes.hpp"

namespace {

using namespace acre::literals;
using acre::large_requests;
using acre::multi_arena;
using acre::detail::stretched;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;

// Static: constant-initialised, so usable before any constructor runs.
constinit acre::inline_multi_arena<8, 256> static_arenas;

TEST(multi_arena, example) {
    multi_arena frames{{.arenas = 64, .bytes = 64_KiB}};
    void* frame = frames.allocate(1000);
    EXPECT_EQ(frames.busy_arenas(), 1u);
    frames.deallocate(frame, 1000);
    EXPECT_EQ(frames.busy_arenas(), 0u);
}

TEST(multi_arena, example_of_the_inline_form) {
    acre::inline_multi_arena<16, 1024> messages;
    static_assert(messages.arenas() == 16 && messages.arena_bytes() == 1024 && messages.capacity() == 16_KiB);
    void* message = messages.allocate(100);
    EXPECT_TRUE(messages.owns(message));
    EXPECT_LT(static_cast<std::size_t>(static_cast<char*>(message) - reinterpret_cast<char*>(&messages)),
              sizeof messages);
    messages.deallocate(message, 100);
}

TEST(multi_arena, upstream_is_asked_once_for_what_required_bytes_says) {
    checking_upstream upstream;
    constexpr acre::multi_arena_options options{.arenas = 10, .bytes = 1000};
    {
        multi_arena tested{options, upstream};
        EXPECT_EQ(upstream.requests(), 1u);
        EXPECT_EQ(upstream.live_bytes(), multi_arena::required_bytes(options));
        EXPECT_EQ(tested.arenas(), 10u);
        EXPECT_EQ(tested.arena_bytes(), 1008u);  // a multiple of 16
        EXPECT_EQ(tested.capacity(), 10080u);
        std::vector<void*> all;
        while (void* p = tested.try_allocate(100)) all.push_back(p);
        EXPECT_EQ(all.size(), 90u);
        for (void* p : all) tested.deallocate(p, 100);
        EXPECT_EQ(upstream.requests(), 1u);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Hazard X13.
TEST(multi_arena, required_bytes_suffice_and_a_granule_less_does_not) {
    constexpr acre::multi_arena_options options{.arenas = 10, .bytes = 1024};
    constexpr std::size_t bytes = multi_arena::required_bytes(options);
    const acre_test::raw_storage storage{bytes};
    acre::buffer enough{storage.span()};
    acre::buffer less{storage.span().first(bytes - 8)};
    EXPECT_EQ(outcome_of([&]() -> void* { return multi_arena{options, enough}.allocate(1); }), outcome::served);
    EXPECT_EQ(outcome_of([&]() -> void* { return multi_arena{options, less}.allocate(1); }),
              outcome::request_too_large);
}

// Hazard X13.
TEST(multi_arena, required_arenas_are_exact) {
    for (const std::size_t bytes : {64u, 1008u, 4096u}) {
        for (const std::size_t size : {0u, 1u, 16u, 17u, 60u, 500u, 1008u, 4000u}) {
            for (const std::size_t alignment : {1u, 16u, 64u, 256u}) {
                const std::size_t count = 57;
                const std::size_t needed = multi_arena::required_arenas(bytes, count, size, alignment);
                if (needed == SIZE_MAX) {
                    multi_arena tested{{.arenas = 4, .bytes = bytes}};
                    EXPECT_EQ(tested.try_allocate(size, alignment), nullptr);
                    continue;
                }
                for (const std::size_t less : {0u, 1u}) {
                    if (needed == less) continue;
                    multi_arena tested{{.arenas = needed - less, .bytes = bytes}};
                    std::vector<void*> all;
                    while (all.size() < count) {
                        void* p = tested.try_allocate(size, alignment);
                        if (p == nullptr) break;
                        all.push_back(p);
                    }
                    // For alignments stricter than an arena's, more than the guaranteed number may fit by luck.
                    if (less == 0 || alignment <= 16) {
                        EXPECT_EQ(all.size() == count, less == 0) << bytes << ' ' << size << ' ' << alignment;
                    }
                    for (void* p : all) tested.deallocate(p, size, alignment);
                }
            }
        }
    }
}

// Hazards M1, M4, M16.
TEST(multi_arena, larger_than_an_arena_is_refused_by_name) {
    multi_arena tested{{.arenas = 4, .bytes = 1024}};
    for (const std::size_t bytes : {std::size_t{1025}, std::size_t{4096}, acre_test::beyond_32_bits, SIZE_MAX}) {
        EXPECT_EQ(tested.try_allocate(bytes), nullptr);
        try {
            (void)tested.allocate(bytes);
            ADD_FAILURE();
        } catch (const acre::request_too_large& error) {
            EXPECT_EQ(error.bytes_needed(), bytes);
            EXPECT_EQ(error.bytes_available(), 1024u);
        }
    }
    EXPECT_EQ(tested.refusals().largest_bytes, SIZE_MAX);
    EXPECT_EQ(tested.busy_arenas(), 0u);
    tested.deallocate(tested.allocate(1024), 1024);
}

TEST(multi_arena, out_of_arenas_says_how_many_there_are_and_work_goes_on) {
    multi_arena tested{{.arenas = 3, .bytes = 64}};
    std::vector<void*> all;
    for (int i = 0; i < 3; ++i) all.push_back(tested.allocate(64));
    for (int i = 0; i < 5; ++i) {
        try {
            (void)tested.allocate(1);
            ADD_FAILURE();
        } catch (const acre::out_of_arenas& error) {
            EXPECT_EQ(error.arenas(), 3u);
            EXPECT_NE(std::string{error.what()}.find("3 arenas"), std::string::npos);
        }
    }
    EXPECT_EQ(tested.refusals().out_of_arenas, 5u);
    tested.deallocate(all[1], 64);
    EXPECT_EQ(tested.allocate(60), all[1]);
}

// Hazard M2.
TEST(multi_arena, rounds_of_an_over_aligned_size_lose_nothing) {
    multi_arena tested{{.arenas = 4, .bytes = 4096}};
    for (int i = 0; i < 1000; ++i) {
        void* p = tested.allocate(256, 4096);
        EXPECT_TRUE(acre::is_aligned(p, 4096));
        EXPECT_EQ(tested.busy_arenas(), 1u);
        tested.deallocate(p, 256, 4096);
        EXPECT_EQ(tested.busy_arenas(), 0u);
    }
    std::vector<void*> all;
    while (void* p = tested.try_allocate(4096)) all.push_back(p);
    EXPECT_EQ(all.size(), 4u);
}

// Hazard M3.
TEST(multi_arena, rounds_of_the_exact_size_lose_nothing) {
    multi_arena tested{{.arenas = 3, .bytes = 256}};
    for (int i = 0; i < 1'000'000; ++i) tested.deallocate(tested.allocate(256), 256);
    std::vector<void*> held(3);
    for (int i = 0; i < 100'000; ++i) {
        void*& p = held[static_cast<std::size_t>(i) % held.size()];
        tested.deallocate(p, 256);
        p = tested.allocate(256);
    }
    EXPECT_EQ(tested.busy_arenas(), 3u);
}

// Hazards M5, X1.
TEST(multi_arena, any_alignment_that_fits_is_honoured) {
    for (const std::size_t bytes : {1008u, 4096u, 65536u}) {
        multi_arena tested{{.arenas = 4, .bytes = bytes}};
        for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
            void* p = tested.try_allocate(100, alignment);
            EXPECT_TRUE(acre::is_aligned(p, alignment));
            EXPECT_TRUE(p != nullptr || alignment + 100 > bytes) << bytes << ' ' << alignment;
            tested.deallocate(p, 100, alignment);
        }
        EXPECT_EQ(tested.busy_arenas(), 0u);
        EXPECT_EQ(outcome_of([&] { return tested.allocate(16, 24); }), outcome::bad_alignment);
    }
}

// Hazard B5.
TEST(multi_arena, zero_bytes_are_distinct_under_any_alignment) {
    multi_arena tested{{.arenas = 8, .bytes = 512}};
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* p = tested.try_allocate(0, alignment);
        EXPECT_TRUE(p != nullptr || alignment > 512);
        EXPECT_TRUE(p == nullptr || (tested.owns(p) && acre::is_aligned(p, alignment)));
        tested.deallocate(p, 0, alignment);
    }
}

// Hazard M6.
TEST(multi_arena, over_an_upstream_that_begins_anywhere) {
    std::byte storage[10000];
    std::pmr::monotonic_buffer_resource upstream{storage, sizeof storage, std::pmr::null_memory_resource()};
    (void)upstream.allocate(1, 1);
    multi_arena tested{{.arenas = 4, .bytes = 1008}, &upstream};
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(acre::is_aligned(tested.allocate(24, 16), 16));
}

// Hazard M8: a refcount detects a double free of an arena's last allocation.
TEST(multi_arena_misuse, more_freed_than_allocated) {
    multi_arena tested{{.arenas = 4, .bytes = 1024}};
    void* p = tested.allocate(100);
    tested.deallocate(p, 100);
    EXPECT_DEATH(tested.deallocate(p, 100), "acre::multi_arena: double free");
}

// Hazards M15, M16.
TEST(multi_arena_misuse, a_pointer_of_another_resource) {
    multi_arena tested{{.arenas = 4, .bytes = 1024}};
    multi_arena other{{.arenas = 4, .bytes = 1024}};
    void* p = other.allocate(100);
    EXPECT_FALSE(tested.owns(p));
    EXPECT_DEATH(tested.deallocate(p, 100), "acre::multi_arena: a pointer of another resource was freed");
    void* own = tested.allocate(100);
    constexpr std::size_t far = acre_test::half_of_all / 2 / 1_GiB * 1_GiB;  // more than 32 bits, where there are
    EXPECT_DEATH(tested.deallocate(static_cast<char*>(own) + far, 100), "a pointer of another resource was freed");
    EXPECT_FALSE(tested.owns(static_cast<char*>(own) + far));
    static_assert(noexcept(tested.deallocate(own, 100)));
}

// Hazard M9, workload W9: long-lived small blocks among short-lived large ones share arenas.
TEST(multi_arena, small_survivors_share_arenas) {
    multi_arena tested{{.arenas = 64, .bytes = 4096}};
    std::size_t live = 0;
    for (;; live += 16) {
        if (tested.try_allocate(16) == nullptr) break;
        void* large = tested.try_allocate(4080);
        if (large == nullptr) break;
        tested.deallocate(large, 4080);
    }
    EXPECT_GT(live, tested.capacity() * 95 / 100);
}

// Hazard M9.
TEST(multi_arena, open_arenas_keep_their_tails_in_use) {
    const auto served = [](std::size_t open) {
        multi_arena tested{{.arenas = 16, .bytes = 4096, .open = open}};
        // Large requests leave room at the end of each arena; small ones use that room in arenas kept open.
        std::size_t bytes = 0;
        while (tested.try_allocate(1520) != nullptr) bytes += 1520;
        while (tested.try_allocate(208) != nullptr) bytes += 208;
        return bytes;
    };
    EXPECT_GT(served(1), served(0));
    EXPECT_GT(served(8), served(1));
    EXPECT_EQ(outcome_of([]() -> void* { return multi_arena{{.arenas = 1, .bytes = 1, .open = 9}}.allocate(1); }),
              outcome::bad_option);
}

// Hazard M10.
TEST(multi_arena, a_constructor_that_throws_keeps_nothing) {
    struct thrower {
        thrower() { throw std::runtime_error{"no"}; }
        char bytes[100];
    };
    multi_arena tested{{.arenas = 4, .bytes = 1024}};
    for (int i = 0; i < 100; ++i) EXPECT_THROW((void)acre::make_unique<thrower>(tested), std::runtime_error);
    EXPECT_EQ(tested.allocations(), 0u);
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

// Hazard M13.
TEST(multi_arena, sizes_have_64_bits) {
    constexpr std::uint64_t bytes = std::uint64_t{1} << 32;
    constexpr std::uint64_t all =
        bytes * acre::detail::stretched(1) + bytes / 16 + 16 * sizeof(acre::detail::arena_record);
    static_assert(multi_arena::required_bytes({.arenas = 16, .bytes = 256_MiB}) ==
                  (acre_test::sizes_have_64_bits ? all : SIZE_MAX));
    static_assert(multi_arena::required_bytes({.arenas = SIZE_MAX, .bytes = 256_MiB}) == SIZE_MAX);
    static_assert(multi_arena::required_bytes({.arenas = 2, .bytes = SIZE_MAX}) == SIZE_MAX);
    checking_upstream upstream;
    EXPECT_EQ(outcome_of([&]() -> void* {
                  return multi_arena{{.arenas = SIZE_MAX / 16, .bytes = 256_MiB}, upstream}.allocate(1);
              }),
              outcome::bad_option);
    EXPECT_EQ(outcome_of([&]() -> void* {
                  return multi_arena{{.arenas = 16, .bytes = 256_MiB}, acre::no_memory{}}.allocate(1);
              }),
              acre_test::sizes_have_64_bits ? outcome::request_too_large : outcome::bad_option);
    EXPECT_EQ(outcome_of([]() -> void* { return multi_arena{{.arenas = 0, .bytes = 16}}.allocate(1); }),
              outcome::bad_option);
    EXPECT_EQ(outcome_of([]() -> void* { return multi_arena{{.arenas = 1}}.allocate(1); }), outcome::bad_option);
    std::string sentence;
    EXPECT_EQ(
        outcome_of([]() -> void* { return multi_arena{{.arenas = 1, .bytes = SIZE_MAX}}.allocate(1); }, &sentence),
        outcome::bad_option);
    EXPECT_NE(sentence.find(".bytes"), std::string::npos) << sentence;
    EXPECT_EQ(outcome_of([]() -> void* {
                  return multi_arena{{.arenas = 1, .bytes = 64, .large = static_cast<large_requests>(7)}}.allocate(1);
              }),
              outcome::bad_option);
}

// Hazard M14.
TEST(multi_arena, an_arena_without_a_live_allocation_is_not_busy) {
    for (const std::size_t open : {0u, 1u, 3u}) {
        multi_arena tested{{.arenas = 8, .bytes = 1024, .open = open}};
        EXPECT_EQ(tested.busy_arenas(), 0u);
        void* first = tested.allocate(1000);
        EXPECT_EQ(tested.busy_arenas(), 1u);
        void* second = tested.allocate(1000);
        EXPECT_EQ(tested.busy_arenas(), 2u);
        tested.deallocate(second, 1000);
        EXPECT_EQ(tested.busy_arenas(), 1u);
        tested.deallocate(first, 1000);
        EXPECT_EQ(tested.busy_arenas(), 0u);
    }
}

TEST(multi_arena, the_last_allocation_of_an_arena_comes_back_at_once) {
    multi_arena tested{{.arenas = 1, .bytes = 1024}};
    void* kept = tested.allocate(16);
    for (int i = 0; i < 100; ++i) tested.deallocate(tested.allocate(1008), 1008);
    EXPECT_EQ(tested.used(), 16u);
    tested.deallocate(kept, 16);
}

TEST(multi_arena, the_last_allocation_grows_where_it_is) {
    multi_arena tested{{.arenas = 2, .bytes = 1024}};
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 1024));
    EXPECT_FALSE(tested.try_resize(p, 1024, 1025));
    EXPECT_TRUE(tested.try_resize(p, 1024, 10));
    EXPECT_EQ(tested.used(), 16u);
    void* q = tested.allocate(10);
    EXPECT_FALSE(tested.try_resize(p, 10, 100));
    EXPECT_TRUE(tested.try_resize(p, 10, 1));
    tested.deallocate(q, 10);
    tested.deallocate(p, 1);
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

TEST(multi_arena, large_requests_take_a_run_of_arenas) {
    for (const std::size_t open : {0u, 2u}) {
        multi_arena tested{{.arenas = 8, .bytes = 1024, .open = open, .large = large_requests::take_run}};
        void* small = tested.allocate(500);
        void* run = tested.allocate(3000);
        std::memset(run, 1, 3000);
        EXPECT_EQ(tested.allocations(), 2u);
        EXPECT_EQ(tested.busy_arenas(), 4u);
        void* other = tested.allocate(4 * 1024);
        EXPECT_EQ(tested.busy_arenas(), 8u);
        EXPECT_EQ(outcome_of([&] { return tested.allocate(1025); }), outcome::out_of_arenas);
        EXPECT_EQ(outcome_of([&] { return tested.allocate(8 * 1024 + 1); }), outcome::request_too_large);
        EXPECT_TRUE(tested.try_resize(run, 3000, 3072));
        EXPECT_FALSE(tested.try_resize(run, 3072, 3073));
        tested.deallocate(run, 3072);
        EXPECT_EQ(tested.busy_arenas(), 5u);
        EXPECT_NE(tested.try_allocate(2000), nullptr);
        tested.deallocate(other, 4 * 1024);
        tested.deallocate(small, 500);
        EXPECT_EQ(tested.busy_arenas(), 2u);
        tested.reset();
        tested.deallocate(tested.allocate(8 * 1024), 8 * 1024);
        EXPECT_EQ(tested.busy_arenas(), 0u);
    }
}

// Requests of exactly the room left and of zero bytes, at the end of an arena and of all arenas.
// Hazard B5.
TEST(multi_arena, requests_for_no_bytes_are_served_while_there_is_room) {
    for (const std::size_t open : {0u, 2u}) {
        multi_arena tested{{.arenas = 2, .bytes = 64, .open = open}};
        void* whole = tested.allocate(64);
        void* nothing = tested.allocate(0);
        EXPECT_NE(nothing, whole);
        EXPECT_EQ(tested.busy_arenas(), 2u);
        void* rest = tested.allocate(48, 1);
        EXPECT_EQ(static_cast<char*>(rest) - static_cast<char*>(nothing), std::ptrdiff_t{stretched(16)});
        EXPECT_EQ(tested.try_allocate(0), nullptr);
        EXPECT_EQ(tested.try_allocate(0, 64), nullptr);
        tested.deallocate(nothing, 0);
        tested.deallocate(rest, 48);
        tested.deallocate(whole, 64);
        EXPECT_EQ(tested.busy_arenas(), 0u);
        EXPECT_NE(tested.try_allocate(0, 64), nullptr);
    }
}

TEST(multi_arena_misuse, a_run_given_back_with_another_size) {
    multi_arena tested{{.arenas = 8, .bytes = 1024, .large = large_requests::take_run}};
    void* run = tested.allocate(3000);
    EXPECT_DEATH(tested.deallocate(run, 9000), "freed with another size");
    EXPECT_DEATH(tested.deallocate(run, 2000), "freed with another size");
    // A run of this arena and its neighbour.
    void* neighbour = tested.allocate(2000);
    EXPECT_DEATH(tested.deallocate(run, 5000), "freed with another size");
    tested.deallocate(neighbour, 2000);
    // A run of this arena and the active one behind it, which is empty.
    tested.deallocate(tested.allocate(100), 100);
    EXPECT_DEATH(tested.deallocate(run, 4000), "freed with another size");
    (void)tested.allocate(100);
    void* second = tested.allocate(100);
    EXPECT_DEATH(tested.deallocate(second, 2000), "freed with another size");
}

// Random requests of all kinds against the model, with every option.
TEST(multi_arena, at_random) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        std::mt19937 random{seed};
        const std::size_t bytes = seed % 3 == 0 ? 1008 : 1024;
        multi_arena tested{{.arenas = 40,
                            .bytes = bytes,
                            .open = seed % 5,
                            .large = seed % 2 == 0 ? large_requests::refuse : large_requests::take_run}};
        acre_test::live_model model;
        for (int i = 0; i < 20'000; ++i) {
            const auto step = random() % 100;
            if (step < 52) {
                const std::size_t size = random() % (random() % 20 == 0 ? 5000 : 200);
                const std::size_t alignment = std::size_t{1} << random() % 8;
                if (void* p = tested.try_allocate(size, alignment)) model.add(p, size, alignment);
            } else if (step < 99 && !model.empty()) {
                const acre_test::live_block gone = model.any(random());
                model.remove(gone.p);
                tested.deallocate(gone.p, gone.bytes, gone.alignment);
            } else if (random() % 40 == 0) {
                model.verify_all();
                model.forget_all();
                tested.reset();
            }
            ASSERT_EQ(tested.allocations(), model.size());
            ASSERT_GE(tested.used(), model.live_bytes());
        }
        model.verify_all();
        for (const auto& [p, block] : model.blocks()) tested.deallocate(p, block.bytes, block.alignment);
        EXPECT_EQ(tested.busy_arenas(), 0u);
        // No storage was lost: all of it can be handed out again.
        std::size_t whole = 0;
        while (tested.try_allocate(bytes) != nullptr) ++whole;
        EXPECT_EQ(whole, 40u);
    }
}

TEST(multi_arena, as_the_default_resource_of_the_standard) {
    acre::pmr<multi_arena> camera{{.arenas = 64, .bytes = 4_KiB}};
    std::pmr::memory_resource* before = std::pmr::set_default_resource(&camera);
    {
        std::pmr::vector<std::pmr::string> names;
        for (int i = 0; i < 20; ++i) names.emplace_back("a name that is too long to lie in the string itself");
        EXPECT_GT(camera->allocations(), 20u);
    }
    std::pmr::set_default_resource(before);
    EXPECT_EQ(camera->allocations(), 0u);
    EXPECT_EQ(camera->busy_arenas(), 0u);
}

TEST(multi_arena, allocate_shared_is_one_allocation) {
    multi_arena tested{{.arenas = 4, .bytes = 1024}};
    auto shared = std::allocate_shared<std::string>(acre::allocator<std::string, multi_arena>{tested}, "URG");
    EXPECT_EQ(tested.allocations(), 1u);
    auto owned = acre::make_unique<std::string>(tested, "Ugluk");
    EXPECT_EQ(tested.allocations(), 2u);
    shared.reset();
    owned.reset();
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

TEST(multi_arena, chunks_may_fill_whole_arenas) {
    multi_arena tested{{.arenas = 16, .bytes = 512}};
    std::vector<void*> chunks;
    for (int i = 0; i < 16; ++i) {
        chunks.push_back(tested.allocate(512));
        std::memset(chunks.back(), i, 512);
    }
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(static_cast<unsigned char*>(chunks[i])[511], i);
    std::shuffle(chunks.begin(), chunks.end(), std::mt19937{1});
    for (void* p : chunks) tested.deallocate(p, 512);
    EXPECT_EQ(tested.busy_arenas(), 0u);
}

// A published example, row of docs/porting.md: its data in one of them, its records in another, and no heap.
TEST(multi_arena, one_on_another_without_a_heap) {
    if (acre::poisoning) GTEST_SKIP() << "redzones of the lower one take more than the sizes say";
    static constexpr acre::multi_arena_options options{.arenas = 16, .bytes = 256};
    acre::inline_multi_arena<1, multi_arena::required_bytes(options, 16)> data;
    acre::inline_multi_arena<16, 256> records;
    acre::pmr<acre::statistics<multi_arena, acre::statistics_options{.live_map = true}>> counted{
        acre::records_in{records}, options, data};
    EXPECT_EQ(data.busy_arenas(), 1u);

    std::pmr::polymorphic_allocator<double> allocator{&counted};
    constexpr std::array<std::size_t, 12> counts{1, 2, 2, 4, 8, 8, 16, 20, 20, 20, 20, 30};
    std::array<double*, counts.size()> live;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        live[i] = allocator.allocate(counts[i]);
        EXPECT_TRUE(data.owns(live[i]));
    }
    EXPECT_EQ(counted->allocations(), 12u);
    EXPECT_EQ(counted->counts().bytes.value, 1208u);
    EXPECT_EQ(counted->unrecorded(), 0u);
    std::size_t of_20 = 0;
    counted->for_each_live([&](const acre::live_allocation& each) { of_20 += each.bytes == 160; });
    EXPECT_EQ(of_20, 4u);
    for (std::size_t i = 0; i < counts.size(); ++i) allocator.deallocate(live[i], counts[i]);
    EXPECT_EQ(records.allocations(), 0u);
}

TEST(multi_arena, required_bytes_with_padding_suffice_in_every_arena) {
    if (acre::poisoning) GTEST_SKIP() << "redzones of the lower one take more than the sizes say";
    const auto suffices = []<std::size_t Bytes>(std::integral_constant<std::size_t, Bytes>) {
        static constexpr acre::multi_arena_options options{.arenas = 3, .bytes = Bytes};
        acre::inline_multi_arena<2, multi_arena::required_bytes(options, 16)> lower;
        const multi_arena first{options, lower};
        const multi_arena second{options, lower};
        EXPECT_EQ(lower.busy_arenas(), 2u);
    };
    suffices(std::integral_constant<std::size_t, 1>{});
    suffices(std::integral_constant<std::size_t, 100>{});
    suffices(std::integral_constant<std::size_t, 256>{});
    suffices(std::integral_constant<std::size_t, 8192>{});
    static_assert(multi_arena::required_bytes({.arenas = 2, .bytes = SIZE_MAX}, 16) == SIZE_MAX);
}

// Each request takes a multiple of 16 bytes: row of docs/porting.md.
TEST(multi_arena, required_arenas_of_small_nodes_suffice) {
    static constexpr std::size_t arenas = multi_arena::required_arenas(1024, 672, 24);
    static_assert(arenas == 21);
    multi_arena tested{{.arenas = arenas, .bytes = 1024}};
    for (int i = 0; i < 672; ++i) EXPECT_NE(tested.try_allocate(24, 8), nullptr);
    EXPECT_EQ(tested.try_allocate(24, 8), nullptr);
}

TEST(multi_arena, static_storage_is_ready_at_once) {
    void* p = static_arenas.allocate(256);
    EXPECT_TRUE(static_arenas.owns(p));
    static_arenas.deallocate(p, 256);
}

TEST(multi_arena, arenas_are_used_in_address_order_and_last_in_first_out) {
    multi_arena tested{{.arenas = 4, .bytes = 64}};
    auto* first = static_cast<char*>(tested.allocate(64));
    auto* second = static_cast<char*>(tested.allocate(64));
    auto* third = static_cast<char*>(tested.allocate(64));
    EXPECT_EQ(second - first, std::ptrdiff_t{stretched(64)});
    EXPECT_EQ(third - second, std::ptrdiff_t{stretched(64)});
    tested.deallocate(first, 64);
    tested.deallocate(second, 64);
    EXPECT_EQ(tested.allocate(64), second);
    EXPECT_EQ(tested.allocate(64), first);
}

// An upstream of a program that returns null where it should throw.
struct upstream_without_memory {
    std::size_t asked = 0;
    void* allocate(std::size_t bytes, std::size_t) { return asked += bytes, nullptr; }
    void* try_allocate(std::size_t, std::size_t) noexcept { return nullptr; }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

TEST(multi_arena, over_an_upstream_that_returns_null_it_refuses_every_request) {
    upstream_without_memory below;
    acre::multi_arena arenas{{.arenas = 4, .bytes = 1024}, below};
    EXPECT_EQ(arenas.arenas(), 0u);
    EXPECT_EQ(arenas.try_allocate(8), nullptr);
    EXPECT_THROW((void)arenas.allocate(8), acre::out_of_arenas);
}

}  // namespace
