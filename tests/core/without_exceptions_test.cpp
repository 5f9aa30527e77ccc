// Compiled with -fno-exceptions -fno-rtti in every configuration: allocate returns null where it would throw, and calls
// that cannot return null abort with a sentence.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/core/sanitizer.hpp>
#include <array>
#include <cstdint>
#include <vector>

#include "conformance/checking_upstream.hpp"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this file tests builds without exceptions and RTTI"
#endif

namespace {

using acre_test::checking_upstream;

struct counted {
    static inline int live = 0;
    int value = 7;
    counted() { ++live; }
    ~counted() { --live; }
};

template <class R>
void expect_null_for_bad_requests(R& tested) {
    EXPECT_EQ(tested.allocate(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(tested.allocate(SIZE_MAX / 2, 1), nullptr);
    EXPECT_EQ(tested.allocate(16, 48), nullptr);
    EXPECT_EQ(tested.allocate(16, 0), nullptr);
    void* p = tested.allocate(16, 16);
    ASSERT_NE(p, nullptr);
    tested.deallocate(p, 16, 16);
}

TEST(without_exceptions, bad_requests_give_null) {
    static_assert(!acre::exceptions_enabled);
    alignas(64) std::byte storage[4096];
    acre::buffer fixed{storage};
    acre::arena arena;
    acre::multi_pool multi;
    acre::pool<64> pool;
    acre::statistics<acre::arena> counting;
    expect_null_for_bad_requests(fixed);
    expect_null_for_bad_requests(arena);
    expect_null_for_bad_requests(multi);
    expect_null_for_bad_requests(pool);
    expect_null_for_bad_requests(counting);
    EXPECT_EQ(counting.counts().failures, 4u);
    EXPECT_EQ(acre::no_memory{}.allocate(1, 1), nullptr);
}

TEST(without_exceptions, a_refusing_upstream_gives_null_everywhere) {
    checking_upstream upstream;
    upstream.fail_from(1);
    acre::arena arena{upstream};
    EXPECT_EQ(arena.allocate(16), nullptr);
    EXPECT_EQ(arena.allocate<int>(4).data(), nullptr);
    EXPECT_EQ(arena.create<counted>(), nullptr);
    EXPECT_EQ(arena.try_create<counted>(), nullptr);
    EXPECT_TRUE(arena.create_array<counted>(3).empty());
    EXPECT_EQ(arena.copy("text").data(), nullptr);
    EXPECT_EQ(arena.format("%d", 1).data(), nullptr);
    EXPECT_EQ(arena.allocate<double>(SIZE_MAX / 4).data(), nullptr);

    acre::object_pool<counted> pool{upstream};
    EXPECT_EQ(pool.create(), nullptr);
    EXPECT_EQ(pool.try_create(), nullptr);
    EXPECT_FALSE(acre::make_unique<counted>(pool));
    EXPECT_FALSE(acre::make_unique<counted[]>(arena, 3));
    EXPECT_FALSE(acre::make_unique<counted[]>(arena, SIZE_MAX / 2));
    EXPECT_EQ(counted::live, 0);

    acre::multi_pool multi{upstream};
    EXPECT_EQ(multi.allocate(16), nullptr);
    EXPECT_EQ(multi.allocate(100'000), nullptr);

    acre::inline_multi_arena<2, 64> frames;
    EXPECT_EQ(frames.allocate(65), nullptr);

    upstream.recover();
    EXPECT_NE(arena.create<counted>(), nullptr);
    EXPECT_NE(pool.create(), nullptr);
    EXPECT_NE(multi.allocate(16), nullptr);
    EXPECT_EQ(counted::live, 2);
    arena.reset();
    pool.reset();
    EXPECT_EQ(counted::live, 0);
}

// Hazard M18.
TEST(without_exceptions, freed_statistics_are_empty) {
    acre::statistics<acre::multi_pool> counting;
    void* p = counting.allocate(100);
    counting.deallocate(p, 100);
    EXPECT_EQ(counting.counts().allocations.value, 0u);
    EXPECT_EQ(counting.counts().bytes.value, 0u);
}

// Hazard M18.
TEST(without_exceptions, freed_is_gone_from_the_live_map) {
    acre::statistics<acre::multi_pool, acre::statistics_options{.live_map = true}> counting;
    void* p = counting.allocate(100);
    EXPECT_EQ(counting.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(counting.live_allocations().size(), 1u);
    counting.deallocate(p, 100);
    EXPECT_TRUE(counting.live_allocations().empty());
    EXPECT_EQ(counting.counts().failures, 1u);
}

TEST(without_exceptions, limits_and_parts_give_null) {
    acre::limited<acre::arena> limited{{.limit_bytes = 100}};
    EXPECT_EQ(limited.allocate(101), nullptr);
    EXPECT_EQ(limited.create_array<counted>(1000).data(), nullptr);
    EXPECT_EQ(limited.format("%0200d", 1).data(), nullptr);
    acre::synchronized<acre::limited<acre::object_pool<counted>>> objects{acre::limited_options{.limit_bytes = 1}};
    EXPECT_EQ(objects.create(), nullptr);
    acre::fallback<acre::inline_buffer<64>, acre::no_memory> parts;
    EXPECT_EQ(parts.allocate(100), nullptr);
    acre::statistics<acre::heap, acre::statistics_options{.scopes = true}> scoped{acre::records_in{acre::no_memory{}}};
    EXPECT_FALSE(scoped.push_scope());
}

TEST(without_exceptions, fixed_arenas_and_handles_without_memory) {
    acre::arena none{{.fixed_bytes = 100}, acre::no_memory{}};
    EXPECT_EQ(none.allocate(8), nullptr);
    EXPECT_EQ(none.remaining(), 0u);
    acre::arena fixed{{.fixed_bytes = 100}};
    EXPECT_NE(fixed.allocate(100), nullptr);
    EXPECT_EQ(fixed.allocate(acre::poisoning ? 1000 : 8), nullptr);
    EXPECT_FALSE((acre::unique_resource<acre::arena>{{}, acre::no_memory{}}));
    acre::no_memory nothing;
    EXPECT_EQ(acre::make_unique<int>(nothing, 1), nullptr);
}

TEST(without_exceptions, containers_work) {
    acre::arena level;
    std::vector<int, acre::allocator<int, acre::arena>> v{level};
    for (int i = 0; i < 1000; ++i) v.push_back(i);
    EXPECT_EQ(v[999], 999);
}

// Containers and std::allocate_shared write to what allocate returns.
TEST(without_exceptions, containers_and_shared_objects_without_memory_end_the_program) {
    using in_level = acre::containers_in<acre::arena>;
    acre::arena level{{.fixed_bytes = 256}};
    in_level::vector<int> numbers{level};
    EXPECT_DEATH(numbers.resize(100'000), "acre::allocator: out of memory without exceptions");
    EXPECT_DEATH(((void)acre::make_shared<std::array<int, 1000>>(level)), "out of memory without exceptions");
    acre::allocator<std::uint64_t, acre::arena> tested{level};
    EXPECT_DEATH((void)tested.allocate(SIZE_MAX), "out of memory without exceptions");
}

// Hazard M17: users of std::pmr assume that allocate never returns null.
TEST(without_exceptions, pmr_does_not_return_null) {
    acre::pmr<acre::no_memory> none;
    EXPECT_DEATH((void)none.allocate(8, 8), "out of memory without exceptions");
}

TEST(without_exceptions, bad_options_end_the_program) {
    EXPECT_DEATH(acre::arena({.first_block_bytes = 1}), "bad option: .first_block_bytes = 1");
}

}  // namespace
