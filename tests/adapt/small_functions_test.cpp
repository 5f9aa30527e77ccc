// Small functions that other tests call at compile time only, or on objects that are not const: accessors, constants,
// and what the adapters ask a resource at compile time.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/core/detail/iterable.hpp>
#include <acre/core/error.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/observe/logged.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/detail/shared_upstream.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using acre::detail::chunk_class;

TEST(small_functions, resources_name_their_upstream) {
    acre::multi_pool below;
    const acre::resource_ref expected{below};
    EXPECT_EQ(acre::arena{below}.upstream(), expected);
    EXPECT_EQ(acre::concurrent_arena{below}.upstream(), expected);
    EXPECT_EQ(acre::pool<64>{below}.upstream(), expected);
    EXPECT_EQ((acre::wait_free_pool<64>{acre::wait_free_pool_options{.slots = 8}, below}.upstream()), expected);
    EXPECT_EQ((acre::chunk_pool<4, 16, 32>{below}.upstream()), expected);
    EXPECT_EQ((acre::detail::shared_upstream{below, 1000}.upstream()), expected);
}

TEST(small_functions, an_upstream_that_pools_share_serves_up_to_its_limit) {
    acre::multi_pool below;
    acre::detail::shared_upstream shared{below, 1000};
    void* p = shared.allocate(600, 8);
    EXPECT_NE(p, nullptr);
    acre::detail::sparing_upstream<300> sparing{shared};
    EXPECT_EQ(sparing.allocate(200, 8), nullptr) << "the last 300 bytes are not for it";
    shared.deallocate(p, 600, 8);
    void* q = sparing.allocate(200, 8);
    EXPECT_NE(q, nullptr);
    sparing.deallocate(q, 200, 8);
    EXPECT_EQ(shared.held(), 0u);
}

TEST(small_functions, const_adapters_show_their_parts) {
    acre::arena arena;
    const acre::pmr<acre::arena&> adapted{arena};
    EXPECT_EQ(&adapted.get(), &arena);
    EXPECT_EQ(adapted->used(), 0u);
    acre::multi_pool pool;
    const acre::fallback<acre::arena&, acre::multi_pool&> both{arena, pool};
    EXPECT_EQ(&both.primary(), &arena);
    EXPECT_EQ(&both.secondary(), &pool);
    const acre::segregate<32, acre::arena&, acre::multi_pool&> split{arena, pool};
    EXPECT_EQ(&split.small(), &arena);
    EXPECT_EQ(&split.large(), &pool);
}

TEST(small_functions, a_part_that_cannot_resize_keeps_the_size) {
    acre::arena resizes;
    acre::segregate<32, acre::pool<32>, acre::arena&> split{acre::heap{}, resizes};
    void* p = split.allocate(20, 8);
    EXPECT_FALSE(split.try_resize(p, 20, 16));
    EXPECT_TRUE(split.try_resize(p, 20, 20));
    split.deallocate(p, 20, 8);
}

TEST(small_functions, sizes_that_are_known_at_compile_time) {
    EXPECT_EQ((acre::typed_arena<int, 10>::required_bytes(3)), 3 * sizeof(int));
    EXPECT_EQ((acre::typed_arena<int, 10>::required_bytes(SIZE_MAX)), SIZE_MAX);
    EXPECT_EQ((acre::limited<acre::arena>::required_bytes(10, 8)), acre::arena::required_bytes(10, 8));
    EXPECT_EQ((acre::chunk_pool<10, 12, 32>::waste_bytes()), 40u);
    EXPECT_EQ(acre::detail::slab_geometry::of(48, 8).slot_alignment(), 16u);
    EXPECT_GE(acre::detail::bitmap_slabs::largest_region_bytes(acre::detail::slab_geometry::of(48, 8)), 48u);
    EXPECT_EQ(acre::detail::shared_slot_bytes(33), 40u);
    EXPECT_EQ(acre::detail::shared_slot_bytes(1'000'001) % 4096, 0u);
    EXPECT_EQ(acre::detail::type_name<int>(), "int");
    EXPECT_EQ(acre::static_pool<56>{}, acre::static_pool<56>{});
}

TEST(small_functions, the_room_inside_an_arena) {
    using tested = acre::inline_arena<1000>;
    tested full{acre::no_memory{}};
    EXPECT_NE(full.try_allocate(tested::inline_bytes(), 8), nullptr);
    EXPECT_EQ(full.try_allocate(1, 1), nullptr);
}

TEST(small_functions, the_layout_of_a_chunk_pool) {
    // Volatile: so that the compiler does not work it out.
    const volatile std::size_t largest = 32;
    EXPECT_TRUE(acre::detail::is_ascending(std::array<std::size_t, 3>{1, 2, largest}));
    EXPECT_FALSE(acre::detail::is_ascending(std::array<std::size_t, 3>{1, largest, largest}));
    const auto classes = acre::detail::lay_out_chunks(2, std::array<std::size_t, 2>{8, largest});
    EXPECT_EQ(classes[1].offset, 0u) << "the stricter alignment comes first";
    EXPECT_EQ(classes[0].offset, 64u);
}

TEST(small_functions, what_the_allocator_asks_at_compile_time) {
    struct large {
        std::array<char, 100> bytes;
    };
    EXPECT_TRUE((acre::detail::misses_the_slots<large, acre::pool<64>>()));
    EXPECT_FALSE((acre::detail::misses_the_slots<int, acre::pool<64>>()));
    EXPECT_FALSE((acre::detail::misses_the_slots<large, acre::arena>()));
}

TEST(small_functions, the_number_of_elements_where_a_range_tells) {
    struct counts_down {
        int left;
        int operator*() const { return left; }
        counts_down& operator++() {
            --left;
            return *this;
        }
        bool operator!=(int end) const { return left != end; }
    };
    struct range {
        counts_down begin() const { return {3}; }
        int end() const { return 0; }
    };
    EXPECT_EQ(acre::detail::known_size(range{}), 0u);
    EXPECT_EQ(acre::detail::known_size(std::vector<int>{1, 2}), 2u);
}

TEST(small_functions, errors_tell_their_numbers) {
    const acre::out_of_arenas error{"acre::test", 100, 4};
    EXPECT_EQ(error.bytes_needed(), 100u);
    EXPECT_EQ(error.arenas(), 4u);
}

TEST(small_functions, iterators_of_a_pool_go_on_afterwards) {
    acre::object_pool<int> numbers;
    numbers.create(1);
    auto each = numbers.begin();
    EXPECT_EQ(*each++, 1);
    EXPECT_EQ(each, numbers.end());
}

// The first use poisons; a thread that comes meanwhile waits for it.
TEST(small_functions, storage_is_poisoned_once) {
    static std::array<std::byte, 64> storage;
    acre::detail::poison_at_first_use once;
    std::array<std::thread, 4> threads;
    for (auto& each : threads) each = std::thread([&] { once(storage.data(), storage.size()); });
    for (auto& each : threads) each.join();
    once(storage.data(), storage.size());
    acre::unpoison(storage.data(), storage.size());
}

// An object whose constructor throws is not counted as live.
TEST(small_functions, a_counting_typed_arena_takes_the_slot_back) {
    struct throws {
        explicit throws(bool now) {
            if (now) throw std::runtime_error{"constructor"};
        }
    };
    acre::typed_arena<throws, 4, acre::typed_arena_options{.report_live = true}> tested;
    EXPECT_THROW(tested.create(true), std::runtime_error);
    EXPECT_EQ(tested.live(), 0u);
}

#if __has_include(<pthread.h>)
TEST(small_functions, the_mutex_with_priority_inheritance_shows_its_handle) {
    acre::priority_inheritance_mutex mutex;
    EXPECT_EQ(pthread_mutex_trylock(mutex.native_handle()), 0);
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_EQ(pthread_mutex_unlock(mutex.native_handle()), 0);
}
#endif

// What follows takes the rare side of conditions that no other test takes, found by scripts/coverage --branches.

TEST(rare_sides, sizes_that_no_memory_could_have) {
    // Volatile: so that the compiler does not work it out.
    const volatile std::size_t nothing = 0, too_much = SIZE_MAX, much = SIZE_MAX / 4;
    EXPECT_EQ(acre::arena::required_bytes(nothing, 8), 0u);
    EXPECT_EQ(acre::arena::required_bytes(1, too_much), SIZE_MAX);
    EXPECT_EQ(acre::arena::required_bytes(1, 8, too_much / 2 + 1), SIZE_MAX);
    EXPECT_EQ(acre::arena::required_bytes(1, much + 8), SIZE_MAX);
    EXPECT_EQ(acre::multi_pool::required_bytes(nothing, 100'000), 0u);
    EXPECT_EQ(acre::multi_pool::required_bytes(much, 100'000), SIZE_MAX);
    EXPECT_EQ(acre::multi_pool::required_bytes(much, 64), SIZE_MAX);
    using geometry = acre::detail::slab_geometry;
    EXPECT_EQ(acre::detail::bitmap_slabs::required_buffer_bytes(geometry::of(64, 8), nothing), 0u);
    EXPECT_EQ(acre::detail::bitmap_slabs::required_buffer_bytes(geometry::of(64, 8), much), SIZE_MAX);
    EXPECT_EQ((acre::typed_arena<int, 10>::array_slots(too_much)), SIZE_MAX);
    EXPECT_EQ((acre::typed_arena<int, 10>::array_slots(too_much / sizeof(int) / 2)), SIZE_MAX);
    const acre::wait_free_pool_options options{.slots = too_much};
    EXPECT_EQ(acre::wait_free_pool<64>::required_bytes(options), SIZE_MAX);
}

TEST(rare_sides, vectors_in_an_arena) {
    acre::arena arena;
    acre::arena_vector<int> one{arena}, other{arena};
    for (int i = 0; i < 20; ++i) one.push_back(i);
    other.push_back(0);
    EXPECT_FALSE(one == other);
    EXPECT_TRUE(one > other) << "the longer of two that begin alike";
    acre::arena_vector<int>& same = one;
    one = same;
    EXPECT_EQ(one.size(), 20u);
    one.shrink_to_fit();
    EXPECT_GE(one.capacity(), one.size()) << "it is not the arena's last allocation";
    other.back() = 7;
    other.resize(20);
    EXPECT_FALSE(one == other);
    EXPECT_TRUE(one < other);
}

TEST(rare_sides, a_string_without_storage_is_empty_text) {
    acre::arena arena;
    const acre::arena_string text{arena};
    EXPECT_STREQ(text.c_str(), "");
}

TEST(rare_sides, a_block_of_its_own_with_an_alignment_that_is_none) {
    acre::multi_pool pool;
    EXPECT_EQ(pool.try_allocate_separately(100, 3), nullptr);
    pool.deallocate_separately(nullptr, 100, 8);
}

TEST(rare_sides, the_smallest_of_several_fits) {
    const std::vector<acre::multi_arena_fit> front{{4, 100}, {2, 100}, {8, 100}};
    EXPECT_EQ(acre::smallest_fit(front), front[1]);
    EXPECT_FALSE(front[0] == front[1]);
}

}  // namespace
