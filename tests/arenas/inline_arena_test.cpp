// inline_arena: arenas that begin in the storage of the object.
#include <gtest/gtest.h>

#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstring>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

TEST(inline_arena, example) {
    const std::string_view header = "Content-Type";
    acre::inline_arena<4096> request;
    std::string_view key = request.copy(header);
    EXPECT_EQ(key, header);
    const auto* begin = reinterpret_cast<const char*>(&request);
    EXPECT_TRUE(key.data() >= begin && key.data() < begin + sizeof request);
}

TEST(inline_arena, asks_upstream_only_when_its_own_is_used_up) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    checking_upstream upstream;
    acre::inline_arena<1024> tested{upstream};
    EXPECT_EQ(tested.capacity(), 1024u);
    constexpr std::size_t bytes = acre::inline_arena<1024>::inline_bytes();
    static_assert(bytes == (sizeof(void*) == 8 ? 1000 : 1008));
    EXPECT_NE(tested.allocate(bytes, 8), nullptr);
    EXPECT_EQ(upstream.requests(), 0u);
    EXPECT_NE(tested.allocate(8), nullptr);
    EXPECT_EQ(upstream.live_blocks(), 1u);
}

TEST(inline_arena, every_reset_keeps_its_own_storage) {
    checking_upstream upstream;
    acre::inline_arena<512> tested{upstream};
    const std::size_t own = tested.capacity();
    void* first = tested.allocate(8);
    for (const auto& policy : {acre::keep_all, acre::keep_largest, acre::keep(0), acre::release, acre::keep_all}) {
        for (int i = 0; i < 20; ++i) std::memset(tested.allocate(100), i, 100);
        tested.reset(policy);
        EXPECT_EQ(tested.used(), 0u);
        EXPECT_EQ(tested.capacity() - own, upstream.live_bytes());
        EXPECT_EQ(tested.allocate(8), first);
    }
    tested.reset(acre::release);
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

TEST(inline_arena, without_an_upstream_fails_cleanly) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::inline_arena<64> tested{acre::no_memory{}};
    EXPECT_NE(tested.try_allocate(40, 8), nullptr);
    EXPECT_EQ(tested.try_allocate(1), nullptr);
    EXPECT_THROW((void)tested.allocate(1), acre::out_of_memory);
    tested.reset();
    EXPECT_NE(tested.try_allocate(40, 8), nullptr);
}

TEST(inline_arena, destroys_what_lies_in_its_own_storage) {
    tracked::start();
    {
        acre::inline_arena<256> tested;
        for (int i = 0; i < 50; ++i) tested.create<tracked>(i);
        acre::scratch temp{tested};
        temp.create<tracked>(50);
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(tracked::destroyed.size(), 51u);
}

TEST(inline_arena, odd_sizes_lose_only_the_odd_bytes) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::inline_arena<71> tested{acre::no_memory{}};
    EXPECT_NE(tested.try_allocate(sizeof(void*) == 8 ? 40 : 48, 8), nullptr);
    EXPECT_EQ(tested.try_allocate(1, 1), nullptr);
}

// The storage of a destroyed arena is reused by other objects, so no byte may stay poisoned.
TEST(inline_arena, leaves_its_storage_usable) {
    using type = acre::inline_arena<256>;
    alignas(type) unsigned char place[sizeof(type)];
    auto* made = ::new (place) type{acre::no_memory{}};
    (void)made->allocate(10);
    made->~type();
    std::memset(place, 1, sizeof place);
    EXPECT_EQ(place[sizeof place - 1], 1);
}

}  // namespace
