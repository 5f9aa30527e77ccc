// acre::general_heap: sizes and alignments, threads, forks, the program's begin and end, memory that goes back, misuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <acre/adapt/allocator.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/general_heap.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "conformance/refusal.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::detail::the_heap;
using acre_test::in_threads;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::patterned_block;
using namespace acre::literals;

// A block of the heap itself, of which another test may have left poisoned bytes.
void* accessible(void* p) {
    if (p != nullptr) acre::unpoison(p, the_heap.usable_size(p));
    return p;
}

// Before main and after it: both objects live longer than GoogleTest's.
struct used_early_and_late {
    used_early_and_late() { std::memset(p = acre::general_heap{}.allocate(1000), 7, 1000); }
    used_early_and_late(const used_early_and_late&) = delete;
    used_early_and_late& operator=(const used_early_and_late&) = delete;
    ~used_early_and_late() {
        acre::general_heap memory;
        void* late = memory.allocate(100'000);
        std::memset(late, 7, 100'000);
        if (static_cast<unsigned char*>(p)[999] != 7) _exit(3);
        memory.deallocate(p);
        memory.deallocate(late);
    }
    void* p;
};
const used_early_and_late before_and_after_main;

TEST(general_heap, example) {
    acre::general_heap memory;
    void* p = memory.allocate(100);
    std::thread{[&] { memory.deallocate(p); }}.join();
    std::vector<int, acre::allocator<int, acre::general_heap>> numbers;
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    EXPECT_EQ(numbers[999], 999);
    EXPECT_TRUE(memory.owns(numbers.data()));
}

TEST(general_heap, is_ready_before_main) {
    EXPECT_EQ(static_cast<unsigned char*>(before_and_after_main.p)[999], 7);
}

TEST(general_heap, has_no_state) {
    static_assert(std::is_empty_v<acre::general_heap>);
    EXPECT_TRUE(acre::general_heap{} == acre::general_heap{});
}

TEST(general_heap, every_size_at_every_alignment) {
    acre::general_heap memory;
    for (std::size_t alignment = 1; alignment <= 1_MiB; alignment *= 4) {
        std::vector<patterned_block> blocks;
        for (std::size_t bytes = 0; bytes <= 100'000; bytes += 1 + bytes / 7) {
            blocks.push_back({memory.allocate(bytes, alignment), bytes, alignment + bytes});
            ASSERT_TRUE(acre::is_aligned(blocks.back().p, alignment)) << bytes << " at " << alignment;
            ASSERT_GE(memory.usable_size(blocks.back().p), bytes);
            blocks.back().fill();
        }
        for (const patterned_block& each : blocks) {
            EXPECT_TRUE(each.is_whole());
            memory.deallocate(each.p);
        }
    }
}

// A thread's first slots are few: of thousands of threads each may hold next to nothing.
TEST(general_heap, a_thread_that_holds_little_keeps_few_slots) {
    acre::general_heap memory;
    constexpr std::size_t bytes = 224;
    const std::size_t before = memory.figures().slot_bytes;
    std::size_t kept = 0;
    std::thread{[&] {
        void* p = memory.allocate(bytes);
        kept = memory.figures().slot_bytes - before;
        memory.deallocate(p);
    }}.join();
    // The C library may allocate for the thread.
    EXPECT_LE(kept, 16 * bytes) << "half of a stack are 32 slots";
}

TEST(general_heap, refuses_by_name) {
    acre::general_heap memory;
    EXPECT_EQ(outcome_of([&] { return memory.allocate(8, 3); }), acre_test::refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return memory.allocate(SIZE_MAX); }), acre_test::refused_as(outcome::request_too_large));
    EXPECT_EQ(outcome_of([&] { return memory.allocate(acre::max_request / 2); }),
              acre_test::refused_as(outcome::out_of_memory));
    EXPECT_EQ(memory.try_allocate(8, 0), nullptr);
    EXPECT_EQ(memory.try_allocate(8, std::size_t{1} << (8 * sizeof(void*) - 1)), nullptr);
    EXPECT_EQ(memory.try_allocate(acre::max_request), nullptr);
}

// Random requests, frees and reallocations of all sizes; each block's pattern is whole to its end.
TEST(general_heap, keeps_what_is_written) {
    std::minstd_rand random{7};
    std::vector<patterned_block> live;
    const auto bytes_of_a_request = [&]() -> std::size_t {
        switch (random() % 8) {
            case 0:
                return random() % 400'000;
            case 1:
                return random() % 40'000;
            default:
                return random() % 700;
        }
    };
    for (std::uint64_t step = 0; step < 40'000; ++step) {
        if (live.size() < 400 && random() % 3 != 0) {
            const std::size_t bytes = bytes_of_a_request();
            live.push_back({accessible(the_heap.allocate(bytes)), bytes, step});
            live.back().fill();
        } else if (!live.empty()) {
            patterned_block& chosen = live[random() % live.size()];
            ASSERT_TRUE(chosen.is_whole());
            if (random() % 3 == 0) {
                const std::size_t bytes = bytes_of_a_request();
                const std::size_t kept = std::min(bytes, chosen.bytes);
                chosen = {accessible(the_heap.reallocate(chosen.p, bytes)), kept, chosen.pattern};
                ASSERT_TRUE(chosen.is_whole());
                chosen.bytes = bytes;
                chosen.fill();
            } else {
                the_heap.free(chosen.p);
                chosen = live.back();
                live.pop_back();
            }
        }
    }
    for (const patterned_block& each : live) the_heap.free(each.p);
}

TEST(general_heap, zeroes_are_zero_in_used_memory) {
    for (const std::size_t bytes : {1U, 100U, 5000U, 40'000U, 3'000'000U}) {
        void* dirty = accessible(the_heap.allocate(bytes));
        std::memset(dirty, 0xff, bytes);
        the_heap.free(dirty);
        auto* clean = static_cast<unsigned char*>(the_heap.allocate_zero(bytes));
        for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(clean[at], 0) << at << " of " << bytes;
        the_heap.free(clean);
    }
}

TEST(general_heap, large_blocks_grow_and_move) {
    constexpr std::size_t last = 24_MiB;
    std::size_t bytes = 20'000;
    auto* p = static_cast<std::uint32_t*>(accessible(the_heap.allocate(bytes)));
    std::size_t written = 0;
    std::vector<void*> between;
    while (bytes < last) {
        for (; written < bytes / 4; ++written) p[written] = static_cast<std::uint32_t>(written);
        // Every other time the neighbour is taken, and the block must move.
        if (between.size() * 3 < written % 100) between.push_back(the_heap.allocate(50'000));
        bytes += bytes / 2;
        p = static_cast<std::uint32_t*>(accessible(the_heap.reallocate(p, bytes)));
        ASSERT_NE(p, nullptr);
    }
    for (std::size_t at = 0; at < written; ++at) ASSERT_EQ(p[at], at);
    p = static_cast<std::uint32_t*>(the_heap.reallocate(p, 4000));
    for (std::size_t at = 0; at < 1000; ++at) ASSERT_EQ(p[at], at);
    EXPECT_LE(the_heap.usable_size(p), 8192u);
    the_heap.free(p);
    for (void* each : between) the_heap.free(each);
}

TEST(general_heap, resizes_in_place) {
    acre::general_heap memory;
    void* small = memory.allocate(1000);
    EXPECT_TRUE(memory.try_resize(small, 1000, memory.usable_size(small)));
    EXPECT_TRUE(memory.try_resize(small, memory.usable_size(small), 1));
    EXPECT_FALSE(memory.try_resize(small, 1, 2000));
    memory.deallocate(small);
    void* large = memory.allocate(1_MiB);
    EXPECT_TRUE(memory.try_resize(large, 1_MiB, 100'000));
    // What it gave up is free.
    EXPECT_TRUE(memory.try_resize(large, 100'000, 1_MiB));
    EXPECT_FALSE(memory.try_resize(large, 1_MiB, SIZE_MAX));
    memory.deallocate(large);
}

TEST(general_heap, memory_goes_back_to_the_system) {
    acre::general_heap memory;
    std::vector<void*> blocks;
    for (int i = 0; i < 64; ++i) blocks.push_back(std::memset(memory.allocate(1_MiB), 1, 1_MiB));
    const std::size_t large = memory.figures().large_bytes;
    EXPECT_GE(large, 64_MiB);
    for (void* each : blocks) memory.deallocate(each);
    EXPECT_LE(memory.figures().large_bytes, large - 64_MiB);
    EXPECT_GE(memory.figures().free_run_bytes, 64_MiB);
    EXPECT_GE(memory.release_unused(), 64_MiB);
    EXPECT_LT(memory.figures().free_run_bytes, 64_KiB) << "parts of pages of up to 64 KiB";

    memory.set_options({.keep_bytes = 0, .keep_milliseconds = 0});
    memory.deallocate(std::memset(memory.allocate(1_MiB), 1, 1_MiB));
    EXPECT_LT(memory.figures().free_run_bytes, 64_KiB) << "parts of pages of up to 64 KiB";
    memory.set_options({});
}

// Free runs that are kept because of a peak go back later, in a program that frees no run any more.
TEST(general_heap, memory_of_a_peak_goes_back_while_small_slots_come_and_go) {
    acre::general_heap memory;
    memory.release_unused();
    memory.set_options({.keep_bytes = 0, .keep_milliseconds = 20});
    constexpr std::size_t bytes = 64;
    std::vector<void*> peak;
    for (int i = 0; i < 64; ++i) peak.push_back(std::memset(memory.allocate(1_MiB), 1, 1_MiB));
    // One slot of eight stays, so no slab is ever free.
    std::vector<void*> small(80'000);
    for (void*& each : small) each = memory.allocate(bytes);
    std::vector<void*> stay;
    for (std::size_t i = 0; i < small.size(); ++i) {
        if (i % 8 == 0) {
            stay.push_back(small[i]);
        } else {
            memory.deallocate(small[i]);
        }
    }
    for (void* each : peak) memory.deallocate(each);
    EXPECT_GE(memory.figures().free_run_bytes, 32_MiB) << "the peak was a moment ago";

    const auto begun = std::chrono::steady_clock::now();
    small.resize(10'000);
    while (memory.figures().free_run_bytes > 4_MiB &&
           std::chrono::steady_clock::now() - begun < std::chrono::seconds{10}) {
        for (void*& each : small) each = memory.allocate(bytes);
        for (void* each : small) memory.deallocate(each);
    }
    EXPECT_LE(memory.figures().free_run_bytes, 4_MiB);
    for (void* each : stay) memory.deallocate(each);
    memory.set_options({});
}

// SQLite does. A build that poisons let it write to no more than was asked for.
TEST(general_heap, all_of_the_usable_size_may_be_used) {
    acre::general_heap memory;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{321}, std::size_t{5000}, std::size_t{100'000}}) {
        void* p = memory.allocate(bytes);
        std::memset(p, 0x5a, memory.usable_size(p));
        p = memory.reallocate(p, 2 * bytes);
        std::memset(p, 0x5a, memory.usable_size(p));
        memory.deallocate(p);
    }
}

// What goes to and fro between a thread and the slabs stays with the thread from then on, within bounds.
TEST(general_heap, a_stack_that_was_full_and_empty_in_turns_keeps_more) {
    acre::general_heap memory;
    constexpr std::size_t bytes = 64;
    const std::size_t at_first = acre::detail::heap_classes::layouts[acre::detail::heap_classes::class_of(bytes)].kept;
    const std::size_t before = memory.figures().slot_bytes;
    std::vector<std::size_t> kept;
    std::thread{[&] {
        for (int round = 0; round < 4; ++round) {
            std::vector<void*> blocks;
            for (std::size_t i = 0; i < 20 * at_first; ++i) blocks.push_back(memory.allocate(bytes));
            for (void* each : blocks) memory.deallocate(each);
            // Those of the vector's own storage are of other sizes; the C library may allocate for the thread.
            kept.push_back((memory.figures().slot_bytes - before) / bytes);
        }
    }}.join();
    EXPECT_LE(kept.front(), 2 * at_first + 64) << "it was full for the first time";
    EXPECT_GT(kept.back(), at_first + 32) << "half of what it holds at most";
    EXPECT_LE(kept.back(), 4 * at_first + 64);
    EXPECT_EQ(memory.figures().slot_bytes, before) << "an ended thread keeps none";
}

TEST(general_heap, slots_of_ended_threads_are_used_again) {
    acre::general_heap memory;
    const auto use = [&] {
        std::vector<void*> mine;
        for (std::size_t bytes = 1; bytes < 40'000; bytes += 1 + bytes / 8) {
            for (int i = 0; i < 20; ++i) mine.push_back(memory.allocate(bytes));
        }
        for (void* each : mine) memory.deallocate(each);
    };
    std::thread{use}.join();
    const std::size_t in_use = memory.figures().slot_bytes;
    for (int generation = 0; generation < 50; ++generation) std::thread{use}.join();
    EXPECT_EQ(memory.figures().slot_bytes, in_use);
}

// Threads free each other's blocks, some after the thread that made them ended.
TEST(general_heap, threads_exchange_blocks) {
    acre::general_heap memory;
    std::array<acre_test::mailbox, 4> mail;
    const auto give_back = [&](std::vector<patterned_block> blocks) {
        for (const patterned_block& each : blocks) {
            EXPECT_TRUE(each.is_whole());
            memory.deallocate(each.p);
        }
    };
    in_threads(mail.size(), [&](std::size_t number) {
        std::minstd_rand random{static_cast<unsigned>(number) + 1};
        for (std::uint64_t step = 0; step < 3000; ++step) {
            const std::size_t bytes = random() % (random() % 16 == 0 ? 50'000 : 300);
            const patterned_block made{memory.allocate(bytes), bytes, step * 8 + number};
            made.fill();
            mail[random() % mail.size()].put(made);
            if (step % 64 == number) give_back(mail[number].take_all());
        }
    });
    for (acre_test::mailbox& each : mail) give_back(each.take_all());
}

TEST(general_heap_death, misuse_is_told) {
    acre::general_heap memory;
    alignas(16) std::byte elsewhere[64];
    EXPECT_DEATH(the_heap.free(elsewhere), "acre::general_heap: a pointer of another resource was freed");
    auto* large = static_cast<std::byte*>(the_heap.allocate(100'000));
    EXPECT_DEATH(the_heap.free(large + 16), "middle of an allocation");
    // What lay here before decides which of the two it is taken for.
    EXPECT_DEATH(the_heap.free(large + 50'000), "middle of an allocation|double free");
    EXPECT_DEATH((the_heap.free(large), the_heap.free(large)), "double free");
    // The sentence says what was done.
    EXPECT_DEATH(the_heap.reallocate(elsewhere, 200), "a pointer of another resource was resized");
    EXPECT_DEATH(the_heap.reallocate(large + 16, 200'000), "a pointer into the middle of an allocation was resized");
    EXPECT_DEATH((the_heap.free(large), the_heap.reallocate(large, 200'000)), "used after it was freed");
    EXPECT_DEATH(std::ignore = the_heap.usable_size(elsewhere), "the size of a pointer of another resource was asked");
    EXPECT_DEATH(the_heap.resize(elsewhere, 200), "a pointer of another resource was resized");
    the_heap.free(large);
    // Slots are checked when they go back to their slab.
    auto* small = static_cast<std::byte*>(the_heap.allocate(100));
    EXPECT_DEATH((the_heap.free(small), the_heap.free(small), memory.release_unused()), "double free");
    EXPECT_DEATH((the_heap.free(small + 16), memory.release_unused()), "middle of a slot");
    the_heap.free(small);
}

// As glibc does, by a comparison with the top of the thread's stack.
TEST(general_heap_death, a_double_free_of_the_two_slots_freed_last) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{20'000}}) {
        void* a = the_heap.allocate(bytes);
        void* b = the_heap.allocate(bytes);
        for (void* twice : {a, b}) {
            const auto mistake = [&] {
                the_heap.free(a);
                the_heap.free(b);
                the_heap.free(twice);
            };
            EXPECT_DEATH(mistake(), "acre::general_heap: double free") << bytes;
        }
        the_heap.free(a);
        the_heap.free(b);
    }
}

// One thread keeps a slot that another one frees again, with all others of the slab, whose memory then gets slots of
// another size: what the first thread gives back is none of these.
TEST(general_heap_death, a_double_free_of_a_slot_whose_memory_has_got_another_size) {
    const auto mistake = [](std::size_t other_bytes) {
        std::vector<void*> blocks(640);
        for (void*& each : blocks) each = the_heap.allocate(1000);
        std::ranges::sort(blocks);
        void* const kept = *std::find_if(blocks.begin() + 160, blocks.end(), [](void* each) {
            return reinterpret_cast<std::uintptr_t>(each) % acre::detail::heap_range::unit_bytes == 0;
        });
        the_heap.free(kept);
        std::thread{[&] {
            the_heap.free(blocks.back());  // a slab that has a free slot, so that an empty one goes
            for (std::size_t i = 0; i < 540; ++i) the_heap.free(blocks[i]);
        }}.join();
        for (int i = 0; i < 100'000 && the_heap.allocate(other_bytes) != kept;) ++i;
        the_heap.trim(0);
    };
    for (const std::size_t other_bytes : {std::size_t{64}, std::size_t{512}, std::size_t{2000}, std::size_t{4000}})
        EXPECT_DEATH(mistake(other_bytes), "acre::general_heap: double free") << other_bytes;
}

// A thread that has just begun frees into empty stacks, which may be those of a thread that ended.
TEST(general_heap, nothing_is_a_double_free_in_an_empty_stack) {
    std::vector<void*> blocks(100);
    for (void*& each : blocks) each = the_heap.allocate(100);
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
        std::thread{[&] {
            the_heap.free(blocks[i]);
            the_heap.free(blocks[i + 1]);
            void* again = the_heap.allocate(100);
            the_heap.free(again);
        }}.join();
    }
}

// A thread's stack of free slots is full at one of these frees.
TEST(general_heap_death, a_double_free_where_the_stack_is_full) {
    constexpr std::size_t bytes = 20'000;
    std::vector<void*> blocks(2 *
                              acre::detail::heap_classes::layouts[acre::detail::heap_classes::class_of(bytes)].kept);
    for (void*& each : blocks) each = the_heap.allocate(bytes);
    for (void* each : blocks) {
        const auto mistake = [&] {
            the_heap.free(each);
            the_heap.free(each);
        };
        EXPECT_DEATH(mistake(), "acre::general_heap: double free");
        the_heap.free(each);
    }
    // The two that were freed last are where the stack is full, too.
    for (void*& each : blocks) each = the_heap.allocate(bytes);
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        const auto mistake = [&] {
            the_heap.free(blocks[i]);
            the_heap.free(blocks[i - 1]);
        };
        the_heap.free(blocks[i - 1]);
        EXPECT_DEATH(mistake(), "acre::general_heap: double free");
    }
    the_heap.free(blocks.back());
}

// Under AddressSanitizer each free looks at the poison, so a double free is told at once.
TEST(general_heap_death, a_double_free_with_other_frees_between) {
    acre::general_heap memory;
    void* a = memory.allocate(100);
    void* b = memory.allocate(100);
    void* c = memory.allocate(100);
    const auto mistake = [&] {
        memory.deallocate(a);
        memory.deallocate(b);
        memory.deallocate(c);
        memory.deallocate(a);
        // Without it: when the slot goes back to its slab.
        if (!acre::poisoning) memory.release_unused();
    };
    EXPECT_DEATH(mistake(), "acre::general_heap: double free");
    memory.deallocate(a);
    memory.deallocate(b);
    memory.deallocate(c);
    // Nothing is poisoned in front of an empty allocation that is freed.
    void* empty = memory.allocate(0);
    (void)memory.allocate(0);
    memory.deallocate(empty);
    void* emptied = memory.allocate(100);
    EXPECT_TRUE(memory.try_resize(emptied, 100, 0));
    memory.deallocate(emptied);
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
TEST(general_heap_death, a_pointer_into_the_middle_of_a_slot_at_once) {
    acre::general_heap memory;
    for (const std::size_t bytes : {std::size_t{40}, std::size_t{100}, std::size_t{5'000}}) {
        auto* const p = static_cast<std::byte*>(memory.allocate(bytes));
        for (const std::size_t offset : {std::size_t{1}, std::size_t{16}, bytes - 1})
            EXPECT_DEATH(memory.deallocate(p + offset), "middle of a slot") << bytes << " at " << offset;
        memory.deallocate(p);
    }
}

TEST(general_heap_death, a_write_beside_an_allocation_and_after_its_free) {
    acre::general_heap memory;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{40'000}}) {
        // The slots beside these were perhaps never handed out. The first may begin a unit: in front of it may be data.
        (void)memory.allocate(bytes);
        auto* const p = static_cast<volatile char*>(memory.allocate(bytes));
        EXPECT_DEATH(p[bytes] = 1, "use-after-poison") << bytes;
        if (bytes < 16'000) {
            EXPECT_DEATH(p[-1] = 1, "use-after-poison") << bytes;
        }
        memory.deallocate(const_cast<char*>(p));
        EXPECT_DEATH(p[bytes - 1] = 1, "use-after-poison") << bytes;
    }
}
#endif

TEST(general_heap_death, the_end_of_the_program_may_use_it) {
    // Runs the destructor of before_and_after_main.
    EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");
}

}  // namespace
