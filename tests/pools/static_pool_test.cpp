// acre::static_pool: the pools of the whole program. Each test has a size or a group of its own.
#include <acre/pools/static_pool.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/pooled.hpp>
#include <acre/core/sanitizer.hpp>
#include <atomic>
#include <latch>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "conformance/refusal.hpp"
#include "sizes.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::static_pool;
using acre_test::in_child;
using acre_test::in_threads;

template <class Pool>
void allocate_and_free(std::size_t count) {
    std::vector<void*> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(Pool::allocate());
    for (void* each : taken) Pool::deallocate(each);
}

struct audio;

TEST(static_pool, example) {
    void* p = static_pool<100>::allocate();
    static_pool<100>::deallocate(p);

    void* q = static_pool<64, audio>::allocate();
    static_pool<64, audio>::deallocate(q);
    EXPECT_EQ((static_pool<64, audio>::live()), 0u);
}

// Hazard N12.
TEST(static_pool, sizes_of_a_class_share_a_pool) {
    EXPECT_EQ(static_pool<1033>::slot_bytes(), 1152u);
    void* p = static_pool<1033>::allocate();
    EXPECT_TRUE(static_pool<1152>::owns(p));
    EXPECT_EQ(static_pool<1100>::live(), 1u);
    static_pool<1150>::deallocate(p);
    EXPECT_EQ(static_pool<1033>::live(), 0u);
    EXPECT_FALSE(static_pool<1153>::owns(p));
}

struct for_order;
template <class Pool>
class static_pool_order : public testing::Test {};
using pools_of_threads =
    testing::Types<static_pool<1800>, static_pool<1800, acre::shared_group<for_order>>,
                   static_pool<1800, acre::shared_group<for_order, acre::heap, acre::double_free_check::none>>>;
TYPED_TEST_SUITE(static_pool_order, pools_of_threads);

TYPED_TEST(static_pool_order, what_was_freed_last_comes_first) {
    if (acre::poisoning) GTEST_SKIP() << "freed slots come as late as possible";
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> taken(100);
        for (void*& each : taken) each = TypeParam::allocate();
        for (void* each : taken) TypeParam::deallocate(each);
        for (std::size_t i = taken.size(); i-- > 0;) EXPECT_EQ(TypeParam::allocate(), taken[i]);
        for (void* each : taken) TypeParam::deallocate(each);
    }
    EXPECT_EQ(TypeParam::live(), 0u);
}

TYPED_TEST(static_pool_order, the_slot_freed_last_goes_back_with_its_thread_and_with_release_unused) {
    TypeParam::deallocate(TypeParam::allocate());
    std::thread{[] { TypeParam::deallocate(TypeParam::allocate()); }}.join();
    EXPECT_EQ(TypeParam::live(), 0u);
    TypeParam::release_unused();
    EXPECT_EQ(TypeParam::capacity(), 0u);
    // Other pools may have freed memory at the same addresses.
    void* p = TypeParam::allocate();
    EXPECT_TRUE(TypeParam::owns(p));
    TypeParam::deallocate(p);
}

struct other_group;
TEST(static_pool, groups_are_apart) {
    void* p = static_pool<64, other_group>::allocate();
    EXPECT_TRUE((static_pool<60, other_group>::owns(p)));
    EXPECT_FALSE((static_pool<64, audio>::owns(p)));
    EXPECT_FALSE(static_pool<64>::owns(p));
    static_pool<64, other_group>::deallocate(p);
}

template <class Pool>
void live_capacity_and_release_unused_are_exact() {
    Pool::release_unused();
    ASSERT_EQ(Pool::live(), 0u);
    ASSERT_EQ(Pool::capacity(), 0u);
    std::vector<void*> taken;
    for (std::size_t count = 1; count <= 2000; ++count) {
        taken.push_back(Pool::allocate());
        ASSERT_EQ(Pool::live(), count);
    }
    EXPECT_EQ(std::set<void*>(taken.begin(), taken.end()).size(), 2000u);
    const std::size_t full = Pool::capacity();
    EXPECT_GE(full, 2000 * Pool::slot_bytes());
    // A redzone may take as much as the slot's alignment.
    EXPECT_LE(full, 2000 * Pool::slot_bytes() * (acre::poisoning ? 10 : 5) / 4);
    while (taken.size() > 1) {
        Pool::deallocate(taken.back());
        taken.pop_back();
        ASSERT_EQ(Pool::live(), taken.size());
    }
    const std::size_t before = Pool::capacity();
    const std::size_t given_back = Pool::release_unused();
    EXPECT_EQ(Pool::capacity(), before - given_back);
    EXPECT_LE(Pool::capacity(), 16u * 1024) << "more than the slab of the last one";
    Pool::deallocate(taken.back());
    Pool::release_unused();
    EXPECT_EQ(Pool::capacity(), 0u);
    EXPECT_EQ(Pool::live(), 0u);
    allocate_and_free<Pool>(100);
    Pool::release_unused();
}

struct jobs;
struct more_jobs;

TEST(static_pool, further_groups_for_all_threads) {
    using one = static_pool<72, acre::shared_group<jobs>>;
    using other = static_pool<72, acre::shared_group<more_jobs>>;
    void* p = one::allocate();
    void* q = other::allocate();
    EXPECT_TRUE(one::owns(p) && other::owns(q));
    EXPECT_FALSE(one::owns(q) || other::owns(p) || static_pool<72>::owns(p));
    std::thread{[=] {
        one::deallocate(p);
        other::deallocate(q);
    }}.join();
    EXPECT_EQ(one::live() + other::live(), 0u);
    EXPECT_GT(one::capacity(), 0u);
    one::release_unused();
    EXPECT_EQ(one::capacity(), 0u);
    EXPECT_GT(other::capacity(), 0u);
    other::release_unused();
    // A group of one thread at a time, by its plain name and in full.
    void* r = static_pool<72, jobs>::allocate();
    EXPECT_TRUE((static_pool<72, acre::thread_group<jobs>>::owns(r)));
    static_pool<72, jobs>::deallocate(r);
    static_pool<72, jobs>::release_unused();
}

// Gives at most `budget` bytes.
template <class Name>
struct budgeted {
    static inline std::atomic<std::size_t> budget{0};
    static inline std::atomic<std::size_t> calls{0};

    void* allocate(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate(bytes, alignment)) return p;
        return acre::raise<acre::out_of_memory>("budgeted", bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        ++calls;
        if (bytes > budget) return nullptr;
        void* p = acre::heap{}.try_allocate(bytes, alignment);
        if (p != nullptr) budget -= bytes;
        return p;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        budget += bytes;
        acre::heap{}.deallocate(p, bytes, alignment);
    }
};

struct arcade;
struct pinball;
}  // namespace
template <>
struct acre::group_upstream<pinball> {
    using type = budgeted<arcade>;
};
namespace {

TEST(static_pool, memory_comes_from_the_upstream_of_its_group) {
    using memory = budgeted<arcade>;
    using shared = static_pool<64, acre::shared_group<arcade, memory>>;
    using lone = static_pool<64, acre::thread_group<arcade, memory>>;
    memory::budget = 1 << 20;
    const auto takes_all_from_it = [](auto pool) {
        const std::size_t before = memory::budget;
        void* p = pool.allocate();
        void* large = pool.allocate(10'000, 16);
        EXPECT_LE(memory::budget + 10'000 + 4096, before);
        pool.deallocate(large, 10'000, 16);
        pool.deallocate(p);
        EXPECT_GT(pool.release_unused(), 0u);
        EXPECT_EQ(memory::budget, before);
    };
    takes_all_from_it(shared{});
    takes_all_from_it(lone{});
    takes_all_from_it(static_pool<64, pinball>{});
    memory::budget = 0;
    EXPECT_EQ(shared::try_allocate(), nullptr);
    EXPECT_EQ(lone::try_allocate(), nullptr);
    EXPECT_FALSE(lone::prepare(1));
}

template <class Pool>
std::vector<void*> all_of() {
    std::vector<void*> taken;
    while (void* p = Pool::try_allocate()) taken.push_back(p);
    return taken;
}
template <class Pool>
void free_all(const std::vector<void*>& taken) {
    for (void* each : taken) Pool::deallocate(each);
}

struct scarce;
// Hazard N9. What one pool no longer needs serves the next one, without a new-handler.
TEST(static_pool, memory_that_runs_out_is_recycled) {
    using memory = budgeted<scarce>;
    using group = acre::shared_group<scarce, memory>;
    memory::budget = 1 << 20;
    free_all<static_pool<64, group>>(all_of<static_pool<64, group>>());
    EXPECT_LT(memory::budget, 20'000u) << "the first pool keeps what it has";
    const auto taken = all_of<static_pool<400, group>>();
    EXPECT_GT(taken.size() * 400, std::size_t{3} << 18);
    free_all<static_pool<400, group>>(taken);
    // A group of one thread at a time and a large request get it, too, and so does prepare().
    using lone = static_pool<64, acre::thread_group<scarce, memory>>;
    free_all<lone>(all_of<lone>());
    EXPECT_GT(lone::capacity(), std::size_t{3} << 18);
    lone::release_unused();
    free_all<static_pool<64, group>>(all_of<static_pool<64, group>>());
    void* large = static_pool<400, group>::try_allocate(1 << 19, 16);
    EXPECT_NE(large, nullptr);
    static_pool<400, group>::deallocate(large, 1 << 19, 16);
    free_all<static_pool<64, group>>(all_of<static_pool<64, group>>());
    EXPECT_TRUE((static_pool<400, group>::prepare(1500)));
    acre::pool_registry::recycle();
}

struct scarce_group;
// Row of docs/porting.md: what one size of a group no longer needs serves the next one. Other groups keep theirs.
TEST(static_pool, a_group_that_runs_out_first_releases_its_other_sizes) {
    using memory = budgeted<scarce_group>;
    using group = acre::thread_group<scarce_group, memory>;
    using other = static_pool<64, acre::thread_group<pinball, memory>>;
    memory::budget = 1 << 16;
    free_all<other>(all_of<other>());
    const std::size_t kept = other::capacity();
    memory::budget = 1 << 20;
    free_all<static_pool<64, group>>(all_of<static_pool<64, group>>());
    const auto taken = all_of<static_pool<400, group>>();
    EXPECT_GT(taken.size() * 400, std::size_t{3} << 18);
    free_all<static_pool<400, group>>(taken);
    EXPECT_TRUE((static_pool<64, group>::prepare(6'000)));
    EXPECT_EQ(other::capacity(), kept);
    acre::pool_registry::recycle();
    EXPECT_EQ(other::capacity(), kept);
}

// A pool of the program's own in place of that of a group.
struct handmade;
}  // namespace
template <std::size_t Size>
class acre::static_pool<Size, handmade> {
public:
    static inline int live = 0;
    static void* allocate() { return ++live, ::operator new(Size); }
    static void deallocate(void* p) noexcept { --live, ::operator delete(p); }
    static void* try_allocate(std::size_t bytes, std::size_t) noexcept { return ::operator new(bytes, std::nothrow); }
    static void* allocate(std::size_t bytes, std::size_t) { return ++live, ::operator new(bytes); }
    static void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }
};
namespace {

// Row of docs/porting.md.
TEST(static_pool, that_of_the_programs_own_group_may_be_specialised) {
    struct node : acre::pooled<node, acre::in_group<handmade>> {
        int value = 7;
    };
    auto* one = new node;
    EXPECT_EQ((static_pool<sizeof(node), handmade>::live), 1);
    delete one;
    EXPECT_EQ((static_pool<sizeof(node), handmade>::live), 0);
    static_assert(acre::resource<static_pool<sizeof(node), handmade>>);
}

struct exact_group;
// Hazard N9.
TEST(static_pool, live_capacity_and_release_unused_are_exact) {
    live_capacity_and_release_unused_are_exact<static_pool<184>>();
    live_capacity_and_release_unused_are_exact<static_pool<184, exact_group>>();
}

TEST(static_pool, is_a_resource_whatever_object_it_is_called_through) {
    static_assert(acre::stateless_resource<static_pool<64>>);
    static_assert(static_pool<64>{} == static_pool<64>{});
    const acre::resource_ref handle{static_pool<200>{}};
    void* p = handle.allocate(200, 8);
    EXPECT_TRUE(static_pool<200>::owns(p));
    handle.deallocate(p, 200, 8);
    // Other requests go to the heap and are freed there.
    for (const auto& [bytes, alignment] : {std::pair{300, 8}, std::pair{100, 4096}, std::pair{200, 64}}) {
        void* q = handle.allocate(static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment));
        EXPECT_TRUE(acre::is_aligned(q, static_cast<std::size_t>(alignment)));
        handle.deallocate(q, static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment));
    }
}

template <std::size_t... Sizes>
void expect_aligned(std::index_sequence<Sizes...>) {
    const auto check = [](auto size) {
        using pool = static_pool<size.value>;
        void* p = pool::allocate();
        EXPECT_TRUE(acre::is_aligned(p, pool::slot_alignment()));
        EXPECT_TRUE(pool::serves(size.value, size.value & (0 - size.value))) << "the alignment that the size allows";
        pool::deallocate(p);
    };
    (check(std::integral_constant<std::size_t, 1 + Sizes * 37>{}), ...);
    (check(std::integral_constant<std::size_t, 16 + Sizes * 16>{}), ...);
    (check(std::integral_constant<std::size_t, 64 + Sizes * 64>{}), ...);
    (check(std::integral_constant<std::size_t, 4096 + Sizes * 4096>{}), ...);
}

// Hazards B3, N1.
// Hazards B3, N1.
TEST(static_pool, slots_are_as_aligned_as_their_size_allows) {
    expect_aligned(std::make_index_sequence<20>{});
}

struct prepared_group;
template <class Pool>
void prepared_slots_need_no_heap() {
    EXPECT_TRUE(Pool::prepare(1000));
    const std::size_t capacity = Pool::capacity();
    EXPECT_EQ(Pool::live(), 0u);
    std::vector<void*> taken;
    for (int i = 0; i < 1000; ++i) taken.push_back(Pool::allocate());
    EXPECT_EQ(Pool::capacity(), capacity);
    for (void* each : taken) Pool::deallocate(each);
}
TEST(static_pool, prepared_slots_need_no_heap) {
    prepared_slots_need_no_heap<static_pool<256>>();
    prepared_slots_need_no_heap<static_pool<256, prepared_group>>();
    EXPECT_TRUE(static_pool<256>::prepare(0));
}

// Hazard P4.
TEST(static_pool, null_is_a_no_op) {
    static_pool<320>::deallocate(nullptr);
    static_pool<320, audio>::deallocate(nullptr);
    EXPECT_EQ(static_pool<320>::live() + (static_pool<320, audio>::live()), 0u);
}

// Hazards M8, N3.
TEST(static_pool, a_double_free_is_reported) {
    void* p = static_pool<384>::allocate();
    void* q = static_pool<384>::allocate();
    static_pool<384>::deallocate(p);
    EXPECT_DEATH(static_pool<384>::deallocate(p), "acre::static_pool: double free");
    static_pool<384>::deallocate(q);
    EXPECT_DEATH(
        {
            static_pool<384>::deallocate(p);
            static_pool<384>::release_unused();
        },
        "acre::static_pool: double free");
    void* r = static_pool<384, audio>::allocate();
    static_pool<384, audio>::deallocate(r);
    EXPECT_DEATH((static_pool<384, audio>::deallocate(r)), "acre::static_pool: double free");
}

// Hazards N14, X7: pools of groups, which one thread each uses, lie on cache lines of their own.
// Hazards N14, X7.
TEST(static_pool, groups_share_no_cache_line) {
    static_assert(sizeof(acre::detail::magazine_depot) % 64 == 0 && alignof(acre::detail::magazine_depot) == 64);
    static_assert(acre::detail::static_slots<64, audio, acre::heap, false>::state_alignment == 64);
    static_assert(acre::detail::static_slots<64, acre::every_thread, acre::heap, true>::state_alignment == 64);
}

class static_pool_threads : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(with, static_pool_threads, testing::Values(4, 16));

// Hazards N8, N10, N11 as far as they can be told from outside, and M20 where the sanitizer watches.
// Hazards M20, N8.
TEST_P(static_pool_threads, allocate_here_free_there) {
    using pool = static_pool<72>;
    acre_test::allocate_here_free_there(
        GetParam(), 72, 5000, [] { return pool::allocate(); }, [](void* p) { pool::deallocate(p); });
    EXPECT_EQ(pool::live(), 0u);
    pool::release_unused();
    EXPECT_EQ(pool::capacity(), 0u) << "threads that ended took something with them";
}

// Hazard N10: one thread stops in the midst of a miss, with the lock of its pool; others go on in theirs.
TEST(static_pool_threads, pools_share_no_lock) {
    if (acre_test::sanitized) GTEST_SKIP() << "the sanitizers' operator new calls no handler";
    if (!acre_test::sizes_have_64_bits) GTEST_SKIP() << "a heap of 32 bits has room for the largest slots";
    const int status = in_child([] {
        std::set_new_handler([] {
            std::set_new_handler(nullptr);
            std::thread{[] { allocate_and_free<static_pool<1536>>(2000); }}.join();
            acre::pool_registry::recycle();
        });
        // More than the heap has.
        using impossible = static_pool<acre::max_request / 2048>;
        return impossible::try_allocate() == nullptr && static_pool<1536>::capacity() == 0 ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
}

template <std::size_t Number>
struct group_of_thread;

// Each thread has its group; hazard N8: no locks, no sharing.
TEST(static_pool_threads, each_group_in_a_thread_of_its_own) {
    std::thread one{[] { allocate_and_free<static_pool<40, group_of_thread<1>>>(20'000); }};
    std::thread other{[] { allocate_and_free<static_pool<40, group_of_thread<2>>>(20'000); }};
    one.join();
    other.join();
    EXPECT_EQ((static_pool<40, group_of_thread<1>>::live()), 0u);
    EXPECT_EQ((static_pool<40, group_of_thread<2>>::live()), 0u);
}

// Hazard N8.
TEST(static_pool_threads, used_for_the_first_time_by_many_threads_at_once) {
    std::atomic<std::size_t> owned{0};
    in_threads(16, [&](std::size_t) {
        void* p = static_pool<448>::allocate();
        if (static_pool<448>::owns(p)) ++owned;
        static_pool<448>::deallocate(p);
    });
    EXPECT_EQ(owned, 16u);
    std::size_t listed = 0;
    acre::pool_registry::for_each([&](const acre::pool_registry::entry& each) { listed += each.slot_bytes == 448; });
    EXPECT_EQ(listed, 1u);
}

TEST(static_pool_threads, live_is_exact_while_other_threads_keep_slots) {
    using pool = static_pool<512>;
    std::latch used{3};
    std::latch over{1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            allocate_and_free<pool>(300);
            void* kept = pool::allocate();
            used.count_down();
            over.wait();
            pool::deallocate(kept);
        });
    }
    used.wait();
    EXPECT_EQ(pool::live(), 3u);
    over.count_down();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(pool::live(), 0u);
}

// Uses the pool when its thread ends, before or after the pool detaches the thread's cache: the order of the first uses
// decides.
struct used_at_the_end {
    ~used_at_the_end() {
        if (kept == nullptr) return;
        static_pool<640>::deallocate(kept);
        allocate_and_free<static_pool<640>>(300);
        // The first use in this thread.
        allocate_and_free<static_pool<768>>(10);
    }
    void* kept = nullptr;
};
thread_local used_at_the_end one_end;
thread_local used_at_the_end other_end;

// Hazard N5.
TEST(static_pool_threads, may_be_used_while_a_thread_ends) {
    for (int i = 0; i < 10; ++i) {
        std::thread{[] {
            one_end.kept = nullptr;
            void* first = static_pool<640>::allocate();
            one_end.kept = first;
            other_end.kept = static_pool<640>::allocate();
        }}.join();
        EXPECT_EQ(static_pool<640>::live() + static_pool<768>::live(), 0u);
    }
    static_pool<640>::release_unused();
    static_pool<768>::release_unused();
    EXPECT_EQ(static_pool<640>::capacity() + static_pool<768>::capacity(), 0u);
}

TEST(static_pool_threads, the_child_of_a_fork_goes_on) {
    if (!acre_test::heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    using pool = static_pool<896>;
    void* of_the_parent = pool::allocate();
    {
        const acre_test::busy_threads others{3, [] {
                                                 allocate_and_free<pool>(200);
                                                 acre::pool_registry::recycle();
                                             }};
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(in_child([&] {
                          pool::deallocate(of_the_parent);
                          allocate_and_free<pool>(2000);
                          allocate_and_free<static_pool<1024>>(2000);
                          acre::pool_registry::recycle();
                          (void)pool::live();
                          return pool::owns(pool::allocate()) ? 0 : 1;
                      }),
                      0);
        }
    }
    pool::deallocate(of_the_parent);
    EXPECT_EQ(pool::live(), 0u);
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
// Hazard X11.
TEST(static_pool_poison, freed_slots) {
    const auto touch = [](const void* p) { (void)*static_cast<const volatile char*>(p); };
    void* p = static_pool<1280>::allocate();
    touch(p);
    static_pool<1280>::deallocate(p);
    EXPECT_DEATH(touch(p), "use-after-poison");
    void* q = static_pool<1280, audio>::allocate();
    static_pool<1280, audio>::deallocate(q);
    EXPECT_DEATH(touch(q), "use-after-poison");
}
#endif

}  // namespace
