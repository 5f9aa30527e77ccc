// Pools that notice double frees late: what they notice at once, what they notice later, and when (docs/misuse.md).
#include <gtest/gtest.h>

#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <acre/pools/static_pool.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr acre::double_free_check late = acre::double_free_check::late;

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
class late_double_free : public testing::Test {
protected:
    static constexpr std::size_t bytes = 80;
    void* allocate() { return pools.pool->allocate(bytes); }
    void free(void* p) { pools.pool->deallocate(p, bytes); }

    Pools pools;
};

using kinds = testing::Types<two<acre::concurrent_pool<96, 32, late>>, two<acre::concurrent_pool<80, 16, late>>,
                             two<acre::concurrent_object_pool<of_96_bytes, late>>,
                             two<acre::basic_concurrent_multi_pool<acre::default_size_classes, late>>,
                             two<acre::static_pool<96, acre::shared_group<one, acre::heap, late>>,
                                 acre::static_pool<96, acre::shared_group<another, acre::heap, late>>>>;
TYPED_TEST_SUITE(late_double_free, kinds);

constexpr const char* double_free = "acre::[a-z_]+: double free";

TYPED_TEST(late_double_free, twice_in_a_row_is_noticed_at_once) {
    void* a = this->allocate();
    void* b = this->allocate();
    this->free(b);
    this->free(a);
    EXPECT_DEATH(this->free(a), double_free);
}

TYPED_TEST(late_double_free, a_request_of_no_bytes_is_freed_once) {
    void* p = this->pools.pool->allocate(0);
    EXPECT_NE(p, nullptr);
    this->pools.pool->deallocate(p, 0);
}

TYPED_TEST(late_double_free, with_another_free_between_is_noticed_when_the_slots_go_back) {
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

TYPED_TEST(late_double_free, by_two_threads_is_noticed_when_both_have_ended) {
    void* a = this->allocate();
    void* b = this->allocate();
    const auto mistake = [&] {
        for (int i = 0; i < 2; ++i) std::thread{[&] { this->free(a); }}.join();
    };
    EXPECT_DEATH(mistake(), double_free);
    this->free(a);
    this->free(b);
}

TYPED_TEST(late_double_free, at_the_same_moment_is_noticed_when_the_slots_go_back) {
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
TYPED_TEST(late_double_free, with_many_frees_between_is_noticed_when_the_depot_is_full) {
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

TYPED_TEST(late_double_free, is_noticed_at_the_end_of_the_pool) {
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

TYPED_TEST(late_double_free, other_mistakes_are_noticed_at_once) {
    auto* p = static_cast<char*>(this->allocate());
    EXPECT_DEATH(this->free(p + 8), "a pointer into the middle of a slot was freed");
    this->free(p);
    EXPECT_DEATH(this->free(p + 8), "a pointer into the middle of a slot was freed");
    void* foreign = this->pools.other->allocate(this->bytes);
    EXPECT_DEATH(this->free(foreign), "a pointer of another resource was freed");
    this->pools.other->deallocate(foreign, this->bytes);
}

// The storage behind the short first slab is not the pool's, but lies where a slot of a full slab would.
TEST(late_free, of_storage_behind_the_short_first_slab_is_noticed_when_it_goes_back) {
    using pool = acre::concurrent_pool<96, 32, late>;
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

TYPED_TEST(late_double_free, right_frees_by_any_thread_are_not_mistaken) {
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
