// Pools that look at nothing in a free: right frees are counted right, and a mistake is noticed when the slot goes back
// to its slab (docs/misuse.md).
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <acre/pools/static_pool.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr acre::double_free_check none = acre::double_free_check::none;

struct of_96_bytes {
    char bytes[96];
};
struct one;
struct another;

// A pool, and another one of its kind.
template <class Pool, class Other = Pool>
struct two {
    using pool_type = Pool;
    std::optional<Pool> pool{std::in_place};
    std::optional<Other> other{std::in_place};
};

template <class Pools>
class unchecked_free : public testing::Test {
protected:
    static constexpr std::size_t bytes = 80;
    void* allocate() { return pools.pool->allocate(bytes); }
    void free(void* p) { pools.pool->deallocate(p, bytes); }

    Pools pools;
};
template <class Pools>
class unchecked_free_by_threads : public unchecked_free<Pools> {};

using for_threads = testing::Types<two<acre::concurrent_pool<96, 32, none>>, two<acre::concurrent_pool<80, 16, none>>,
                                   two<acre::concurrent_object_pool<of_96_bytes, none>>,
                                   two<acre::basic_concurrent_multi_pool<acre::default_size_classes, none>>,
                                   two<acre::static_pool<96, acre::shared_group<one, acre::heap, none>>,
                                       acre::static_pool<96, acre::shared_group<another, acre::heap, none>>>>;
TYPED_TEST_SUITE(unchecked_free_by_threads, for_threads);
using kinds = testing::Types<
    two<acre::pool<96, 32, none>>, two<acre::pool<80, 16, none>>, two<acre::object_pool<of_96_bytes, none>>,
    two<acre::basic_multi_pool<acre::default_size_classes, none>>,
    two<acre::static_pool<96, acre::thread_group<one, acre::heap, none>>,
        acre::static_pool<96, acre::thread_group<another, acre::heap, none>>>,
    two<acre::concurrent_pool<96, 32, none>>, two<acre::basic_concurrent_multi_pool<acre::default_size_classes, none>>,
    two<acre::static_pool<96, acre::shared_group<one, acre::heap, none>>,
        acre::static_pool<96, acre::shared_group<another, acre::heap, none>>>>;
TYPED_TEST_SUITE(unchecked_free, kinds);

constexpr const char* double_free = "acre::[a-z_]+: double free";

TYPED_TEST(unchecked_free, slots_are_handed_out_again_and_counted) {
    std::set<void*> all;
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> live;
        for (int i = 0; i < 1000; ++i) live.push_back(this->allocate());
        EXPECT_EQ(std::set<void*>(live.begin(), live.end()).size(), 1000u);
        all.insert(live.begin(), live.end());
        EXPECT_EQ(this->pools.pool->live(), 1000u);
        for (std::size_t i = 0; i < live.size(); i += 2) this->free(live[i]);
        EXPECT_EQ(this->pools.pool->live(), 500u);
        if (round == 1) this->pools.pool->release_unused();
        EXPECT_EQ(this->pools.pool->live(), 500u);
        for (std::size_t i = 1; i < live.size(); i += 2) this->free(live[i]);
        EXPECT_EQ(this->pools.pool->live(), 0u);
    }
    EXPECT_TRUE(acre::poisoning || all.size() < 2600) << "freed slots are used again";
    this->pools.pool->release_unused();
    EXPECT_LE(this->pools.pool->capacity(), 8192u) << "the bookkeeping of threads";
}

TYPED_TEST(unchecked_free, a_request_of_no_bytes_is_freed_once) {
    void* p = this->pools.pool->allocate(0);
    EXPECT_NE(p, nullptr);
    this->pools.pool->deallocate(p, 0);
}

TYPED_TEST(unchecked_free, with_another_free_between_is_noticed_when_the_slots_go_back) {
    void* a = this->allocate();
    void* b = this->allocate();
    const auto mistake = [&] {
        this->free(a);
        this->free(b);
        this->free(a);
        this->pools.pool->release_unused();
    };
    EXPECT_DEATH(mistake(), double_free);
    this->free(a);
    this->free(b);
}

TYPED_TEST(unchecked_free_by_threads, by_two_threads_is_noticed_when_both_have_ended) {
    void* a = this->allocate();
    void* b = this->allocate();
    const auto mistake = [&] {
        for (int i = 0; i < 2; ++i) std::thread{[&] { this->free(a); }}.join();
    };
    EXPECT_DEATH(mistake(), double_free);
    this->free(a);
    this->free(b);
}

TYPED_TEST(unchecked_free_by_threads, at_the_same_moment_is_noticed_when_the_slots_go_back) {
    void* a = this->allocate();
    const auto mistake = [&] {
        std::atomic<int> ready{0};
        const auto free_at_once = [&] {
            ++ready;
            while (ready.load() < 2) std::this_thread::yield();
            this->free(a);
        };
        std::thread first{free_at_once};
        std::thread second{free_at_once};
        first.join();
        second.join();
        this->pools.pool->release_unused();
    };
    EXPECT_DEATH(mistake(), double_free);
    this->free(a);
}

// More threads and slots than the depot keeps magazines for.
TYPED_TEST(unchecked_free_by_threads, with_many_frees_between_is_noticed_when_the_depot_is_full) {
    std::vector<void*> all(20'000);
    for (void*& each : all) each = this->allocate();
    const auto mistake = [&] {
        for (int i = 0; i < 2; ++i) {
            for (void* each : all) this->free(each);
        }
    };
    EXPECT_DEATH(mistake(), double_free);
    for (void* each : all) this->free(each);
}

TYPED_TEST(unchecked_free_by_threads, is_noticed_at_the_end_of_the_pool) {
    if constexpr (!std::is_empty_v<typename TypeParam::pool_type>) {
        const auto mistake = [&](auto&& end) {
            void* a = this->allocate();
            void* b = this->allocate();
            this->free(a);
            this->free(b);
            this->free(a);
            end();
        };
        EXPECT_DEATH(mistake([&] { this->pools.pool.reset(); }), double_free);
        EXPECT_DEATH(mistake([&] { this->pools.pool->release(); }), double_free);
    }
}

TYPED_TEST(unchecked_free, other_mistakes_are_noticed_when_the_slots_go_back) {
    auto* p = static_cast<char*>(this->allocate());
    void* foreign = this->pools.other->allocate(this->bytes);
    const auto mistake = [&](void* wrong) {
        this->free(wrong);
        this->pools.pool->release_unused();
    };
    EXPECT_DEATH(mistake(p + 8), "a pointer into the middle of a slot was freed");
    EXPECT_DEATH(mistake(foreign), "a pointer of another resource was freed");
    this->free(p);
    this->pools.other->deallocate(foreign, this->bytes);
}

// The storage behind the short first slab is not the pool's, but lies where a slot of a full slab would.
TEST(unchecked_free_of_storage, of_storage_behind_the_short_first_slab_is_noticed_when_it_goes_back) {
    using pool = acre::concurrent_pool<96, 32, none>;
    pool tested;
    auto* p = static_cast<char*>(tested.allocate());
    const std::size_t slab = pool::geometry.slab_bytes;
    char* last =
        p - reinterpret_cast<std::uintptr_t>(p) % slab + (slab / pool::geometry.stride - 1) * pool::geometry.stride;
    const auto mistake = [&] {
        tested.deallocate(last);
        tested.release_unused();
    };
    EXPECT_DEATH(mistake(), "acre::concurrent_pool: a pointer of another resource was freed");
    tested.deallocate(p);
}

// A walk over the objects, and their end, know what was freed, also by the walk itself.
struct owner {
    explicit owner(acre::object_pool<owner, none>& pool) : home(&pool) { ++live; }
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    ~owner() {
        --live;
        home->destroy(std::exchange(owned, nullptr));
    }
    static inline int live = 0;
    acre::object_pool<owner, none>* home;
    owner* owned = nullptr;
};
TEST(unchecked_objects, are_walked_and_ended_each_once) {
    acre::object_pool<owner, none> pool;
    std::vector<owner*> all(500);
    for (owner*& each : all) each = pool.create(pool);
    for (std::size_t i = 0; i + 1 < all.size(); i += 3) all[i]->owned = all[i + 1];
    std::size_t visited = 0;
    for (owner& each : pool) {
        ++visited;
        if (each.owned != nullptr) pool.destroy(&each);
    }
    EXPECT_EQ(visited, 500u - 167u) << "what a visited one owned is skipped";
    EXPECT_EQ(owner::live, 500 - 2 * 167);
    EXPECT_EQ(pool.live(), 500u - 2u * 167u);
    visited = 0;
    pool.for_each([&](owner& each) {
        if (visited++ % 2 == 0) pool.destroy(&each);
    });
    EXPECT_EQ(visited, 166u);
    EXPECT_EQ(pool.live(), 83u);
    owner* last = pool.create(pool);
    last->owned = pool.create(pool);
    pool.reset();
    EXPECT_EQ(owner::live, 0);
    EXPECT_EQ(pool.live(), 0u);
    acre::object_pool<owner, none> moved = std::move(pool);
    (void)moved;
}

TYPED_TEST(unchecked_free_by_threads, right_frees_by_any_thread_are_not_mistaken) {
    const auto work = [this] {
        for (int round = 0; round < 3; ++round) {
            std::vector<void*> all(1500);
            for (void*& each : all) each = this->allocate();
            std::thread{[&] {
                for (std::size_t i = 0; i < all.size(); i += 2) this->free(all[i]);
            }}.join();
            for (std::size_t i = 1; i < all.size(); i += 2) this->free(all[i]);
        }
    };
    std::thread beside{work};
    work();
    beside.join();
    EXPECT_EQ(this->pools.pool->live(), 0u);
    this->pools.pool->release_unused();
}

}  // namespace
