// acre::concurrent_object_pool and acre::concurrent_pool within one thread.
#include <acre/pools/concurrent_object_pool.hpp>

#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using acre::concurrent_object_pool;
using acre::concurrent_pool;
using acre::concurrent_pool_options;
using acre_test::checking_upstream;

TEST(concurrent_pool, example) {
    struct message {
        explicit message(std::string said) : text(std::move(said)) {}
        std::string text;
    };
    concurrent_object_pool<message> messages;
    message* sent = messages.create("hello");
    EXPECT_EQ(sent->text, "hello");
    messages.destroy(sent);
    EXPECT_EQ(messages.live(), 0u);

    concurrent_pool<64> slots;
    void* p = slots.allocate();
    slots.deallocate(p);
}

TEST(concurrent_pool, live_and_used_are_exact) {
    concurrent_pool<64> tested;
    std::vector<void*> taken;
    for (std::size_t count = 1; count <= 1000; ++count) {
        taken.push_back(tested.allocate());
        ASSERT_EQ(tested.live(), count);
        ASSERT_EQ(tested.used(), count * 64);
    }
    EXPECT_EQ(std::set<void*>(taken.begin(), taken.end()).size(), 1000u);
    for (; !taken.empty(); taken.pop_back()) {
        ASSERT_EQ(tested.live(), taken.size());
        tested.deallocate(taken.back());
    }
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_EQ(tested.used(), 0u);
}

TEST(concurrent_pool, capacity_is_what_upstream_gave) {
    checking_upstream upstream;
    concurrent_pool<200> tested{upstream};
    EXPECT_EQ(tested.capacity(), 0u);
    std::vector<void*> taken;
    for (int i = 0; i < 2000; ++i) {
        taken.push_back(tested.allocate());
        ASSERT_EQ(tested.capacity(), upstream.live_bytes());
    }
    for (void* each : taken) tested.deallocate(each);
    EXPECT_EQ(tested.capacity(), upstream.live_bytes());
    void* large = tested.allocate(5000, 64);
    EXPECT_EQ(tested.capacity(), upstream.live_bytes());
    EXPECT_GE(tested.used(), 5000u);
    tested.deallocate(large, 5000, 64);
    tested.release();
    EXPECT_EQ(tested.capacity(), 0u);
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Also hazard N9.
TEST(concurrent_pool, release_unused_gives_everything_back_that_is_free) {
    checking_upstream upstream;
    concurrent_pool<64> tested{upstream};
    std::vector<void*> taken;
    for (int i = 0; i < 3000; ++i) taken.push_back(tested.allocate());
    void* kept = taken.front();
    for (void* each : taken) {
        if (each != kept) tested.deallocate(each);
    }
    const std::size_t before = tested.capacity();
    const std::size_t given_back = tested.release_unused();
    EXPECT_EQ(tested.capacity(), before - given_back);
    EXPECT_LE(tested.capacity(), 16u * 1024 + sizeof(acre::detail::thread_cache))
        << "more than the slab of the one that is kept";
    EXPECT_EQ(tested.live(), 1u);
    tested.deallocate(kept);
    tested.release_unused();
    EXPECT_EQ(tested.capacity(), sizeof(acre::detail::thread_cache));
    EXPECT_EQ(tested.release_unused(), 0u);
    EXPECT_NE(tested.allocate(), nullptr) << "and goes on";
}

TEST(concurrent_pool, reset_keeps_the_slabs) {
    checking_upstream upstream;
    concurrent_pool<64> tested{upstream};
    for (int i = 0; i < 3000; ++i) (void)tested.allocate();
    for (int i = 0; i < 500; ++i) tested.deallocate(tested.allocate());
    const std::size_t capacity = tested.capacity();
    const std::size_t requests = upstream.requests();
    for (int round = 0; round < 3; ++round) {
        tested.reset();
        EXPECT_EQ(tested.live(), 0u);
        EXPECT_EQ(tested.capacity(), capacity);
        std::set<void*> taken;
        for (int i = 0; i < 3000; ++i) taken.insert(tested.allocate());
        EXPECT_EQ(taken.size(), 3000u);
    }
    EXPECT_EQ(upstream.requests(), requests);
}

TEST(concurrent_pool, never_holds_more_than_its_limit) {
    if (acre::poisoning) GTEST_SKIP() << "the gaps between slots take room";
    for (const std::size_t limit : {4096u, 5000u, 6000u, 20'000u, 100'000u}) {
        SCOPED_TRACE(limit);
        checking_upstream upstream;
        concurrent_pool<64> tested{concurrent_pool_options{.limit_bytes = limit}, upstream};
        std::vector<void*> taken;
        while (void* p = tested.try_allocate()) taken.push_back(p);
        EXPECT_GE(taken.size(), 50u) << "a slab within the limit is not used";
        EXPECT_LE(upstream.peak_bytes(), limit);
        EXPECT_EQ(tested.try_allocate(100'000, 8), nullptr);
#if defined(__cpp_exceptions)
        EXPECT_THROW((void)tested.allocate(), acre::limit_exceeded);
        EXPECT_THROW((void)tested.allocate(limit, 8), acre::limit_exceeded);
#endif
        for (void* each : taken) tested.deallocate(each);
        const std::size_t count = taken.size();
        for (auto& each : taken) each = tested.try_allocate();
        EXPECT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0) << "slots were lost";
        EXPECT_EQ(tested.live(), count);
    }
}

#if defined(__cpp_exceptions)
TEST(concurrent_pool, errors_say_what_is_wrong) {
    EXPECT_THROW((concurrent_pool<64>{concurrent_pool_options{.limit_bytes = 100}}), acre::bad_option);
    acre::no_memory none;
    concurrent_pool<64> tested{none};
    EXPECT_THROW((void)tested.allocate(), acre::out_of_memory);
    EXPECT_THROW((void)tested.allocate(64, 48), acre::bad_alignment);
    EXPECT_THROW((void)tested.allocate(SIZE_MAX - 5, 8), acre::request_too_large);
}
#endif

// Hazard P3: also where there is no memory for a magazine.
TEST(concurrent_pool, giving_back_never_fails) {
    checking_upstream upstream;
    concurrent_pool<64> tested{upstream};
    std::vector<void*> taken;
    for (int i = 0; i < 5000; ++i) taken.push_back(tested.allocate());
    upstream.fail_from(1);
    for (void* each : taken) tested.deallocate(each);
    EXPECT_EQ(tested.live(), 0u);
    for (auto& each : taken) each = tested.try_allocate();
    EXPECT_EQ(std::count(taken.begin(), taken.end(), nullptr), 0);
    upstream.recover();
}

TEST(concurrent_pool, works_where_there_is_no_memory_for_magazines) {
    // Upstream has one slab and refuses all other requests.
    checking_upstream upstream;
    upstream.fail_from(1, 1000);
    concurrent_pool<64> tested{upstream};
    EXPECT_EQ(tested.try_allocate(), nullptr);
    upstream.recover();
    void* p = tested.try_allocate();
    EXPECT_NE(p, nullptr);
    tested.deallocate(p);
}

TEST(concurrent_pool, over_an_arena_and_a_buffer) {
    acre::arena below;
    concurrent_pool<48> tested{below};
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(below.owns(tested.allocate()));
    EXPECT_EQ(tested.upstream(), acre::resource_ref{below});
}

// The keys by which threads find their caches are reused, also by pools at the same address.
TEST(concurrent_pool, many_pools_come_and_go) {
    std::vector<std::unique_ptr<concurrent_pool<32>>> pools;
    std::vector<std::pair<std::size_t, void*>> taken;
    for (std::size_t i = 0; i < 100; ++i) pools.push_back(std::make_unique<concurrent_pool<32>>());
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < pools.size(); ++i) {
            EXPECT_EQ(pools[i]->live(), 0u);
            void* p = pools[i]->allocate();
            EXPECT_TRUE(pools[i]->owns(p));
            pools[i]->deallocate(p);
            EXPECT_EQ(pools[(i + 1) % pools.size()]->owns(p), false);
        }
        for (std::size_t i = static_cast<std::size_t>(round) % 3; i < pools.size(); i += 3) {
            pools[i] = std::make_unique<concurrent_pool<32>>();
        }
    }
}

// A thread remembers the pool that it refilled last; another one, and one released meanwhile, it must look up.
TEST(concurrent_pool, two_pools_in_turns) {
    concurrent_pool<64> first{{.thread_bytes = 1024}};
    concurrent_pool<64> second{{.thread_bytes = 1024}};
    std::vector<void*> of_first;
    std::vector<void*> of_second;
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 1; i <= 100; ++i) {
            of_first.push_back(first.allocate());
            of_second.push_back(second.allocate());
            ASSERT_EQ(first.live(), i);
            ASSERT_TRUE(first.owns(of_first.back()));
            ASSERT_TRUE(second.owns(of_second.back()));
        }
        if (round % 2 == 0) {
            for (void* p : of_first) first.deallocate(p);
        } else {
            first.release();
        }
        for (void* p : of_second) second.deallocate(p);
        of_first.clear();
        of_second.clear();
        EXPECT_EQ(first.live(), 0u);
        EXPECT_EQ(second.live(), 0u);
    }
}

TEST(concurrent_pool, one_after_the_other_at_the_same_place) {
    for (int round = 0; round < 50; ++round) {
        checking_upstream upstream;
        concurrent_object_pool<std::string> tested{acre::resource_ref{upstream}};
        EXPECT_TRUE(tested.owns(tested.create("a text that is too long to lie in the string itself")));
    }
}

#if defined(__cpp_exceptions)
// Hazard M10.
TEST(concurrent_pool, a_constructor_that_throws_keeps_nothing) {
    struct picky {
        explicit picky(bool refuse) {
            if (refuse) throw std::runtime_error{"no"};
        }
        std::string name = "a text that is too long to lie in the string itself";
    };
    concurrent_object_pool<picky> tested;
    EXPECT_THROW(tested.create(true), std::runtime_error);
    EXPECT_THROW(tested.try_create(true), std::runtime_error);
    EXPECT_EQ(tested.live(), 0u);
    picky* made = tested.create(false);
    EXPECT_EQ(tested.live(), 1u);
    tested.destroy(made);
}
#endif

struct counted {
    explicit counted(int& count) : living(&count) { ++*living; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*living; }
    int* living;
};

// Hazards X6, P11: what lives is destroyed once, what is free is not.
// Hazards X6, P11.
TEST(concurrent_pool, only_what_lives_is_destroyed) {
    int living = 0;
    {
        concurrent_object_pool<counted> tested;
        std::vector<counted*> made;
        for (int i = 0; i < 1000; ++i) made.push_back(tested.create(living));
        for (std::size_t i = 0; i < made.size(); i += 2) tested.destroy(made[i]);
        EXPECT_EQ(living, 500);
        tested.reset();
        EXPECT_EQ(living, 0);
        for (int i = 0; i < 300; ++i) tested.destroy(tested.create(living));
        for (int i = 0; i < 200; ++i) tested.create(living);
        tested.release();
        EXPECT_EQ(living, 0);
        for (int i = 0; i < 700; ++i) tested.create(living);
    }
    EXPECT_EQ(living, 0);
}

// A tree whose nodes destroy their children, in the pool that is ending.
struct node {
    node(concurrent_object_pool<node>& pool, int depth, int& count) : home(pool), living(count) {
        ++living;
        for (auto& each : children) each = depth == 0 ? nullptr : home.create(home, depth - 1, count);
    }
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node() {
        --living;
        for (node* each : children) home.destroy(each);
    }
    concurrent_object_pool<node>& home;
    int& living;
    std::array<node*, 3> children{};
};

// Hazard X6.
TEST(concurrent_pool, objects_may_destroy_others_at_the_end) {
    int living = 0;
    {
        concurrent_object_pool<node> tested;
        tested.create(tested, 5, living);
        tested.create(tested, 3, living);
        EXPECT_EQ(living, 364 + 40);
        tested.reset();
        EXPECT_EQ(living, 0);
        tested.create(tested, 4, living);
    }
    EXPECT_EQ(living, 0);
}

// An object that creates another one while the pool ends.
struct last_words {
    last_words(concurrent_object_pool<last_words>& pool, bool more, int& count)
        : home(pool), makes_more(more), living(count) {
        ++living;
    }
    last_words(const last_words&) = delete;
    last_words& operator=(const last_words&) = delete;
    ~last_words() {
        --living;
        if (makes_more) home.destroy(home.create(home, false, living));
    }
    concurrent_object_pool<last_words>& home;
    bool makes_more;
    int& living;
};

// Hazard X6.
TEST(concurrent_pool, objects_may_create_others_at_the_end) {
    int living = 0;
    {
        concurrent_object_pool<last_words> tested;
        for (int i = 0; i < 300; ++i) tested.create(tested, true, living);
    }
    EXPECT_EQ(living, 0);
}

// Hazards M8, N3.
TEST(concurrent_pool, a_slot_freed_twice_in_a_row_is_reported_at_once) {
    concurrent_pool<64> tested;
    void* p = tested.allocate();
    tested.deallocate(p);
    EXPECT_DEATH(tested.deallocate(p), "acre::concurrent_pool: double free");
}

// The first of the two frees has filled its magazine.
template <std::size_t Slot>
void free_twice_as_the_last_of(std::size_t count) {
    concurrent_pool<Slot> tested;
    std::vector<void*> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(tested.allocate());
    for (void* p : taken) tested.deallocate(p);
    tested.deallocate(taken.back());
}
// Hazards M8, N3.
TEST(concurrent_pool, at_the_edge_of_a_magazine) {
    EXPECT_DEATH(free_twice_as_the_last_of<40'000>(1), "acre::concurrent_pool: double free");
    for (const std::size_t count : {508u, 509u, 510u, 511u}) {
        EXPECT_DEATH(free_twice_as_the_last_of<64>(count), "acre::concurrent_pool: double free") << count;
    }
}

// Hazards M8, N3.
TEST(concurrent_pool, any_double_free_is_reported_when_slots_go_to_their_slabs) {
    concurrent_pool<64> tested;
    void* p = tested.allocate();
    void* q = tested.allocate();
    tested.deallocate(p);
    tested.deallocate(q);
    EXPECT_DEATH(
        {
            tested.deallocate(p);
            tested.release_unused();
        },
        "acre::concurrent_pool: double free");
}

// Hazards P2, C6.
TEST(concurrent_pool, a_pointer_of_another_pool_is_reported) {
    concurrent_pool<64> one;
    concurrent_pool<64> other;
    void* p = one.allocate();
    (void)other.allocate();
    EXPECT_DEATH(other.deallocate(p), "a pointer of another resource");
    one.deallocate(p);
}

// Hazard P4.
TEST(concurrent_pool, null_is_a_no_op) {
    concurrent_pool<64> tested;
    tested.deallocate(nullptr);
    concurrent_object_pool<std::string> objects;
    objects.destroy(nullptr);
    EXPECT_EQ(tested.capacity() + objects.capacity(), 0u);
}

// Hazards N14, X7: what one thread writes lies in no cache line that another one uses.
// Hazards N14, X7.
TEST(concurrent_pool, threads_share_no_cache_line) {
    static_assert(alignof(acre::detail::thread_cache) == 64 && sizeof(acre::detail::thread_cache) == 64);
    static_assert(acre::detail::magazine::alignment == 64 && acre::detail::magazine::bytes(64) % 64 == 0);
    static_assert(alignof(acre::detail::magazine_depot) == 64 && alignof(concurrent_pool<64>) == 64);
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)

void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TEST(concurrent_pool_poison, freed_slots_and_slots_not_handed_out) {
    concurrent_pool<64> tested;
    auto* p = static_cast<char*>(tested.allocate());
    touch(p + 63);
    // The address beside a slot may be in the slab header; the pool tells where the next slot is.
    auto* next = static_cast<char*>(tested.allocate());
    tested.deallocate(p);
    EXPECT_DEATH(touch(p), "use-after-poison");
    tested.reset();
    EXPECT_DEATH(touch(p), "use-after-poison");
    ASSERT_EQ(tested.allocate(), p);
    touch(p + 63);
    EXPECT_DEATH(touch(next), "use-after-poison");
}

// Hazard M8.
TEST(concurrent_pool_poison, every_double_free_is_reported_at_once) {
    concurrent_pool<64> tested;
    void* p = tested.allocate();
    void* q = tested.allocate();
    tested.deallocate(p);
    tested.deallocate(q);
    EXPECT_DEATH(tested.deallocate(p), "double free");
}

#endif

}  // namespace
