// What a heap keeps apart: private classes of slots, and counted groups, by a random sequence against a model, by
// threads that free each other's, and by uses that they do not suit.
#include <gtest/gtest.h>
#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <pthread.h>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/detail/process_heap.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using acre::detail::counted_block;
using acre::detail::heap_classes;

constexpr std::size_t private_count = 20;
constinit acre::detail::basic_process_heap<private_count> heap;
constinit acre::detail::basic_process_heap<3> small_heap;

std::uintptr_t unit_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) / heap_classes::unit_bytes;
}

struct block {
    void* p = nullptr;
    std::size_t bytes = 0;
    unsigned char pattern = 0;

    void fill() const {
        ASSERT_NE(p, nullptr) << "the heap has no memory left";
        std::memset(p, pattern, bytes);
    }
    bool is_intact() const {
        if (p == nullptr) return false;
        const auto* at = static_cast<const unsigned char*>(p);
        return std::all_of(at, at + bytes, [&](unsigned char each) { return each == pattern; });
    }
};

TEST(private_classes, have_slabs_of_their_own) {
    const std::size_t size_class = heap_classes::class_of(48);
    const std::size_t mine = heap.open_private_class(size_class);
    ASSERT_NE(mine, 0U);
    std::vector<void*> own;
    std::vector<void*> others;
    for (int i = 0; i < 3000; ++i) {
        own.push_back(heap.take_of(mine));
        others.push_back(heap.allocate(48));
        ASSERT_GE(heap.usable_size(own.back()), 48U);
    }
    for (std::size_t i = 0; i < own.size(); ++i) ASSERT_NE(unit_of(own[i]), unit_of(others[i]));
    for (void* each : own) heap.free(each);
    for (void* each : others) heap.free(each);
}

TEST(private_classes, join_the_others_when_these_need_slots_and_few_of_theirs_are_used) {
    const std::size_t size_class = heap_classes::class_of(64);
    const std::size_t mine = heap.open_private_class(size_class);
    ASSERT_NE(mine, 0U);
    std::vector<void*> live;
    for (int i = 0; i < 20'000; ++i) live.push_back(heap.take_of(mine));
    EXPECT_FALSE(heap.has_joined(mine));
    std::vector<void*> kept;
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (i % 4 == 0) {
            kept.push_back(live[i]);
        } else {
            heap.free(live[i]);
        }
    }
    EXPECT_FALSE(heap.has_joined(mine)) << "nothing else needs them";
    const auto before = heap.count();
    std::vector<void*> others;
    for (int i = 0; i < 10'000; ++i) others.push_back(heap.allocate(64));
    EXPECT_TRUE(heap.has_joined(mine));
    const auto after = heap.count();
    EXPECT_EQ(after.slot_bytes + after.free_slot_bytes, before.slot_bytes + before.free_slot_bytes)
        << "a slab was added before theirs were used";
    // Their slots serve others now: without a way through the slabs, which takes several times as long.
    void* const freed = kept.back();
    kept.pop_back();
    heap.free(freed);
    others.push_back(heap.allocate(64));
    EXPECT_EQ(others.back(), freed);
    std::sort(kept.begin(), kept.end());
    for (void* each : others) ASSERT_FALSE(std::binary_search(kept.begin(), kept.end(), each));
    for (void* each : others) heap.free(each);
    for (void* each : kept) heap.free(each);
    void* p = heap.take_of(mine);
    EXPECT_NE(p, nullptr);
    heap.free(p);
}

// A phase that ends leaves few slots in use for a while. The next one needs them again.
TEST(private_classes, stay_apart_from_phase_to_phase) {
    const std::size_t mine = heap.open_private_class(heap_classes::class_of(112));
    ASSERT_NE(mine, 0U);
    std::size_t bytes_after_one = 0;
    for (int phase = 0; phase < 4; ++phase) {
        std::vector<void*> live;
        for (int i = 0; i < 20'000; ++i) live.push_back(heap.take_of(mine));
        std::shuffle(live.begin(), live.end(), std::minstd_rand{7});
        for (void* each : live) heap.free(each);
        EXPECT_FALSE(heap.has_joined(mine)) << "phase " << phase;
        const auto now = heap.count();
        if (phase == 0) bytes_after_one = now.slot_bytes + now.free_slot_bytes;
        EXPECT_LE(now.slot_bytes + now.free_slot_bytes, 2 * bytes_after_one);
    }
}

// The class of a slab changes while slots in it are freed.
TEST(private_classes, join_while_another_thread_frees) {
    const std::size_t mine = heap.open_private_class(heap_classes::class_of(80));
    ASSERT_NE(mine, 0U);
    constexpr std::size_t count = 10'000;  // an emulator's heap has few MiB
    std::vector<block> blocks(count);
    for (std::size_t i = 0; i < count; ++i) {
        blocks[i] = {heap.take_of(mine), 80, static_cast<unsigned char>(i)};
        blocks[i].fill();
    }
    const auto free_some = [&blocks](std::size_t first) {
        for (std::size_t i = first; i < count; i += 5) {
            EXPECT_TRUE(blocks[i].is_intact());
            heap.free(blocks[i].p);
        }
    };
    std::thread other{[&] {
        for (const std::size_t first : {0U, 1U}) free_some(first);
    }};
    for (const std::size_t first : {2U, 3U}) free_some(first);
    std::vector<block> more;
    const auto allocate_more = [&more] {
        for (std::size_t i = 0; i < count; ++i) {
            more.push_back({heap.allocate(80), 80, 0x77});
            more.back().fill();
        }
    };
    allocate_more();
    other.join();
    allocate_more();
    EXPECT_TRUE(heap.has_joined(mine));
    free_some(4);
    for (const block& each : more) {
        ASSERT_TRUE(each.is_intact());
        heap.free(each.p);
    }
}

TEST(private_classes, are_as_many_as_was_asked) {
    for (std::size_t number = 0; number < 3; ++number) EXPECT_NE(small_heap.open_private_class(1), 0U);
    EXPECT_EQ(small_heap.open_private_class(1), 0U);
}

TEST(counted_groups, use_a_block_again_when_nothing_in_it_lives) {
    void* first = heap.take_counted(0, 100);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 16, 0U);
    EXPECT_EQ(heap.usable_size(first), 104U);
    EXPECT_TRUE(heap.resize(first, 104));
    EXPECT_FALSE(heap.resize(first, 105));
    heap.free(first);
    const std::size_t in_use = heap.count().large_bytes;
    for (int i = 0; i < 100'000; ++i) heap.free(heap.take_counted(0, 200));
    EXPECT_EQ(heap.count().large_bytes, in_use) << "one block is enough";
}

TEST(counted_groups, grow_into_another_place) {
    auto* p = static_cast<unsigned char*>(heap.take_counted(1, 40));
    std::memset(p, 7, 40);
    p = static_cast<unsigned char*>(heap.reallocate(p, 10'000));
    EXPECT_EQ(std::count(p, p + 40, 7), 40);
    heap.free(p);
}

// Each block keeps an object, so none is used again.
TEST(counted_groups, are_given_up_when_their_blocks_are_nearly_empty) {
    std::vector<void*> kept;
    std::size_t taken = 0;
    for (; taken < 1'000'000; ++taken) {
        void* p = heap.take_counted(2, 500);
        if (p == nullptr) break;
        if (taken % 100 == 0) {
            kept.push_back(p);
        } else {
            heap.free(p);
        }
    }
    EXPECT_LT(taken, 10'000U);
    EXPECT_EQ(heap.take_counted(2, 500), nullptr);
    const std::size_t held = heap.count().large_bytes;
    EXPECT_LE(held, 20 * counted_block::bytes);
    for (void* each : kept) heap.free(each);
    EXPECT_LT(heap.count().large_bytes, held);
}

/// Takes until a group is given up, at most so many; keeps one in `period` and frees the others a little later.
std::size_t take_until_given_up(std::size_t group, std::size_t most, std::size_t period, std::vector<void*>& kept) {
    std::vector<void*> recent(60);
    std::size_t taken = 0;
    for (; taken < most; ++taken) {
        void* p = heap.take_counted(group, 500);
        if (p == nullptr) break;
        if (period != 0 && taken % period == 0) {
            kept.push_back(p);
        } else {
            heap.free(std::exchange(recent[taken % recent.size()], p));
        }
    }
    for (void* each : recent) heap.free(each);
    return taken;
}

TEST(counted_groups, of_several_threads_are_given_up_before_each_has_three_blocks) {
    std::vector<void*> kept{heap.take_counted(13, 500), heap.take_counted(14, 500)};
    std::thread{[&] {
        EXPECT_EQ(take_until_given_up(13, 10'000, 0, kept), 10'000U) << "what dies in its order needs two blocks";
        EXPECT_LT(take_until_given_up(14, 10'000, 50, kept), 2 * counted_block::bytes / 500);
    }}.join();
    for (void* each : kept) heap.free(each);
}

TEST(counted_groups, behave_as_a_model_of_them) {
    std::minstd_rand random{7};
    std::vector<block> live;
    for (int step = 0; step < 200'000; ++step) {
        // Phases in which all dies, as in programs that they suit.
        const bool ends = step / 1000 % 8 == 7;
        if (!live.empty() && random() % 16 < (ends ? 14U : 7U)) {
            const std::size_t chosen = random() % live.size();
            ASSERT_TRUE(live[chosen].is_intact());
            heap.free(live[chosen].p);
            live[chosen] = live.back();
            live.pop_back();
            continue;
        }
        block made{nullptr, random() % 300, static_cast<unsigned char>(step)};
        made.p = heap.take_counted(3 + random() % 3, made.bytes);
        if (made.p == nullptr) made.p = heap.allocate(made.bytes);
        ASSERT_NE(made.p, nullptr);
        ASSERT_GE(heap.usable_size(made.p), made.bytes);
        made.fill();
        live.push_back(made);
    }
    for (const block& each : live) {
        ASSERT_TRUE(each.is_intact());
        heap.free(each.p);
    }
}

// Each thread takes, and frees what the one before it took. Blocks outlive their threads.
TEST(counted_groups, blocks_are_freed_by_any_thread) {
    constexpr std::size_t threads = 4;
    constexpr int rounds = 200;
    constexpr std::size_t batch = 300;
    std::atomic<block*> passed[threads] = {};
    std::atomic<bool> is_wrong{false};
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < threads; ++number) {
        running.emplace_back([&, number] {
            std::minstd_rand random{static_cast<unsigned>(number + 1)};
            for (int round = 0; round < rounds; ++round) {
                auto* made = new block[batch];
                for (std::size_t i = 0; i < batch; ++i) {
                    block& each = made[i];
                    each = {nullptr, 1 + random() % 200, static_cast<unsigned char>(random())};
                    each.p = heap.take_counted(10, each.bytes);
                    if (each.p == nullptr) each.p = heap.allocate(each.bytes);
                    each.fill();
                }
                block* before = passed[number].exchange(made);
                block* other = passed[(number + 1) % threads].exchange(nullptr);
                for (block* got : {before, other}) {
                    if (got == nullptr) continue;
                    for (std::size_t i = 0; i < batch; ++i) {
                        if (!got[i].is_intact()) is_wrong = true;
                        heap.free(got[i].p);
                    }
                    delete[] got;
                }
            }
        });
    }
    for (std::thread& each : running) each.join();
    for (std::atomic<block*>& each : passed) {
        block* got = each.load();
        if (got == nullptr) continue;
        for (std::size_t i = 0; i < batch; ++i) {
            if (!got[i].is_intact()) is_wrong = true;
            heap.free(got[i].p);
        }
        delete[] got;
    }
    EXPECT_FALSE(is_wrong);
}

TEST(counted_groups, blocks_of_an_ended_thread_go_back_with_their_last_object) {
    const std::size_t before = heap.count().large_bytes;
    std::vector<void*> left;
    std::thread{[&] {
        for (int i = 0; i < 2000; ++i) left.push_back(heap.take_counted(11, 400));
    }}.join();
    EXPECT_GE(heap.count().large_bytes, before + 2000 * 400);
    for (void* each : left) {
        ASSERT_NE(each, nullptr);
        heap.free(each);
    }
    EXPECT_EQ(heap.count().large_bytes, before);
}

TEST(counted_groups_death, a_double_free_is_told) {
    void* kept = heap.take_counted(12, 50);
    void* p = heap.take_counted(12, 50);
    EXPECT_DEATH((heap.free(p), heap.free(p)), "double free");
    heap.free(p);
    heap.free(kept);
}

}  // namespace

#endif
