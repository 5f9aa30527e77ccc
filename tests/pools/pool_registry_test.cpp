// acre::pool_registry: the entries of the static pools, and how it recycles unused memory.
#include <acre/pools/static_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/refusal.hpp"
#include "sizes.hpp"
#include "threads/in_threads.hpp"

namespace {

using acre::pool_registry;
using acre::static_pool;

struct registered;
template <class T>
struct group_of;

// The entry of a pool; fails when there are two.
std::optional<pool_registry::entry> entry_of(std::size_t slot_bytes, std::string_view group) {
    std::optional<pool_registry::entry> found;
    pool_registry::for_each([&](const pool_registry::entry& each) {
        if (each.slot_bytes != slot_bytes || !each.group.ends_with(group)) return;
        EXPECT_FALSE(found) << "two entries in the registry";
        found = each;
    });
    return found;
}

TEST(pool_registry, example) {
    void* p = static_pool<96>::allocate();
    std::size_t held_bytes = 0;
    pool_registry::for_each([&](const pool_registry::entry& each) { held_bytes += each.held_bytes; });
    EXPECT_GE(held_bytes, 96u);
    static_pool<96>::deallocate(p);
    pool_registry::recycle();
}

TEST(pool_registry, knows_a_pool_from_its_first_use_on) {
    EXPECT_FALSE(entry_of(5120, "every_thread"));
    void* p = static_pool<5000>::allocate();
    auto found = entry_of(5120, "every_thread");
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->synchronized);
    EXPECT_EQ(found->live, 1u);
    EXPECT_EQ(found->held_bytes, static_pool<5000>::capacity());
    static_pool<5000>::deallocate(p);
    EXPECT_EQ(entry_of(5120, "every_thread")->live, 0u);
    EXPECT_GT(pool_registry::recycle(), 0u);
    EXPECT_EQ(entry_of(5120, "every_thread")->held_bytes, 0u);
}

TEST(pool_registry, names_groups_and_says_what_they_hold) {
    using pool = static_pool<5000, registered>;
    std::vector<void*> taken;
    for (int i = 0; i < 100; ++i) taken.push_back(pool::allocate());
    const auto grown = entry_of(5120, "registered");
    ASSERT_TRUE(grown);
    EXPECT_FALSE(grown->synchronized);
    EXPECT_EQ(grown->held_bytes, pool::capacity());
    EXPECT_GT(grown->live, 0u);
    EXPECT_LE(grown->live, pool::live()) << "from when it last grew";
    for (void* each : taken) pool::deallocate(each);
    pool_registry::recycle();
    EXPECT_GT(pool::capacity(), 0u) << "only its own thread may give it back";
    pool::release_unused();
    EXPECT_EQ(entry_of(5120, "registered")->held_bytes, 0u);
    EXPECT_EQ(entry_of(5120, "registered")->live, 0u);
    taken.assign(1, pool::allocate());
    EXPECT_EQ(entry_of(5120, "registered")->live, 1u);
    pool::deallocate(taken.front());

    using nested = static_pool<5000, group_of<int[3]>>;
    nested::deallocate(nested::allocate());
    EXPECT_TRUE(entry_of(5120, "group_of<int[3]>") || entry_of(5120, "group_of<int [3]>"));
}

TEST(pool_registry, pools_may_be_used_for_the_first_time_meanwhile) {
    void* p = static_pool<6000>::allocate();
    pool_registry::for_each(
        [](const pool_registry::entry&) { static_pool<7000>::deallocate(static_pool<7000>::allocate()); });
    static_pool<6000>::deallocate(p);
    EXPECT_TRUE(entry_of(7168, "every_thread"));
}

// Hazard N4: while other threads use their pools, and groups of their own.
TEST(pool_registry, recycles_while_threads_allocate) {
    std::atomic<bool> over{false};
    std::thread recycles{[&] {
        while (!over) {
            pool_registry::recycle();
            pool_registry::for_each([](const pool_registry::entry& each) { EXPECT_GT(each.slot_bytes, 0u); });
        }
    }};
    acre_test::in_threads(3, [](std::size_t self) {
        for (int round = 0; round < 200; ++round) {
            std::vector<void*> taken;
            for (int i = 0; i < 100; ++i) {
                taken.push_back(static_pool<7500>::allocate());
                if (self == 0) taken.push_back(static_pool<7500, registered>::allocate());
            }
            for (std::size_t i = 0; i < taken.size(); ++i) {
                if (self == 0 && i % 2 == 1) {
                    static_pool<7500, registered>::deallocate(taken[i]);
                } else {
                    static_pool<7500>::deallocate(taken[i]);
                }
            }
        }
    });
    over = true;
    recycles.join();
    EXPECT_EQ(static_pool<7500>::live(), 0u);
    pool_registry::recycle();
    EXPECT_EQ(static_pool<7500>::capacity(), 0u);
}

struct traced_group;

// What a debug build of the published pools prints, as a switch.
TEST(pool_registry, traces_on_demand) {
    testing::internal::CaptureStderr();
    using quiet = static_pool<7800, acre::shared_group<group_of<int>>>;
    quiet::deallocate(quiet::allocate());
    quiet::release_unused();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

    testing::internal::CaptureStderr();
    pool_registry::trace(stderr);
    using shared = static_pool<7800, acre::shared_group<traced_group>>;
    shared::deallocate(shared::allocate());
    static_pool<7800, traced_group>::deallocate(static_pool<7800, traced_group>::allocate());
    pool_registry::recycle();
    EXPECT_EQ(static_pool<acre::max_request / 1024>::try_allocate(), nullptr);
    pool_registry::trace(nullptr);
    shared::deallocate(shared::allocate());
    const std::string said = testing::internal::GetCapturedStderr();
    const auto has = [&said](const char* part) { return said.find(part) != std::string::npos; };
    EXPECT_TRUE(has("acre::static_pool: slots of 8192 bytes, ")) << said;
    EXPECT_TRUE(has("traced_group: first used; all threads share it\n")) << said;
    EXPECT_TRUE(has("traced_group: first used; one thread at a time uses it\n")) << said;
    EXPECT_TRUE(has("traced_group: gave ")) << said;
    EXPECT_TRUE(has("every_thread: out of memory; all pools gave ")) << said;
    pool_registry::recycle();
    static_pool<7800, traced_group>::release_unused();
}

struct leaking_group;

// Hazard P11.
TEST(pool_registry, reports_what_is_live) {
    const auto report = [] {
        testing::internal::CaptureStderr();
        const std::size_t live = pool_registry::report_live(stderr);
        return std::pair{live, testing::internal::GetCapturedStderr()};
    };
    const std::size_t before = report().first;
    void* p = static_pool<8000, leaking_group>::allocate();
    void* q = static_pool<8000, acre::shared_group<leaking_group>>::allocate();
    void* r = static_pool<8000, leaking_group>::allocate();
    static_pool<8000, leaking_group>::deallocate(r);
    const auto [live, said] = report();
    EXPECT_EQ(live, before + 2);
    EXPECT_NE(said.find("leaking_group: 1 still live\n"), std::string::npos) << said;
    static_pool<8000, leaking_group>::deallocate(p);
    static_pool<8000, acre::shared_group<leaking_group>>::deallocate(q);
    EXPECT_EQ(report().first, before);
    static_pool<8000, leaking_group>::release_unused();
}

TEST(pool_registry, reports_at_the_end_of_the_program) {
    const auto leak_and_exit = [] {
        pool_registry::report_live_at_exit();
        (void)static_pool<8000, leaking_group>::allocate();
        std::exit(0);
    };
    EXPECT_EXIT(leak_and_exit(), testing::ExitedWithCode(0), "leaking_group: 1 still live");
}

int handler_calls = 0;
void recycle_when_out_of_memory() {
    ++handler_calls;
    pool_registry::recycle();
    std::set_new_handler(nullptr);
}

// Hazard N4: the pool that asked holds its lock then.
TEST(pool_registry, recycles_from_a_new_handler) {
    if (acre_test::sanitized) GTEST_SKIP() << "the sanitizers' operator new calls no handler";
    if (!acre_test::sizes_have_64_bits) GTEST_SKIP() << "a heap of 32 bits has room for the largest slots";
    static_pool<6600>::deallocate(static_pool<6600>::allocate());
    EXPECT_GT(static_pool<6600>::capacity(), 0u);
    const int status = acre_test::in_child([] {
        std::set_new_handler(&recycle_when_out_of_memory);
        // More than the heap has.
        using impossible = static_pool<acre::max_request / 1024>;
        if (impossible::try_allocate() != nullptr) return 1;
        if (handler_calls == 0) return 2;
        return static_pool<6600>::capacity() == 0 ? 0 : 3;
    });
    EXPECT_EQ(status, 0);
    static_pool<6600>::release_unused();
}

}  // namespace
