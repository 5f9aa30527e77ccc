// acre::buffer and acre::inline_buffer.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/pools/object_pool.hpp>
#include <cstring>

#include "conformance/refusal.hpp"
#include "conformance/worlds.hpp"
#include "sizes.hpp"

namespace {

using namespace acre::literals;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::raw_storage;
using acre_test::refused_as;

TEST(buffer, example) {
    alignas(64) static std::byte storage[64_KiB];
    acre::buffer fixed{storage};
    acre::arena frame{fixed};
    EXPECT_TRUE(fixed.owns(frame.allocate(1000)));
}

TEST(inline_buffer, example) {
    struct Particle {
        float position[3];
    };
    acre::inline_buffer<64_KiB, 4_KiB> storage;
    acre::object_pool<Particle> particles{storage};
    EXPECT_TRUE(storage.owns(particles.create()));
}

// Hazards B1, B9.
TEST(buffer, what_does_not_fit_is_refused) {
    raw_storage storage{acre::buffer::required_bytes(4, 16, 16)};
    acre::buffer fixed{storage.span()};
    for (int i = 0; i < 4; ++i) std::memset(fixed.allocate(16, 16), 1, 16);
    EXPECT_EQ(fixed.try_allocate(16, 16), nullptr);
    EXPECT_EQ(fixed.try_allocate(0, 1), nullptr);
    EXPECT_EQ(outcome_of([&] { return fixed.allocate(16, 16); }), refused_as(outcome::request_too_large));
}

#if defined(__cpp_exceptions)
TEST(buffer, says_what_an_alignment_takes) {
    alignas(32) std::byte storage[32] = {};
    acre::buffer fixed{std::span{storage + 16, 16}};
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return fixed.allocate(10, 32); }, &sentence), outcome::request_too_large);
    EXPECT_EQ(
        sentence,
        "acre::buffer: request too large: 10 bytes aligned to 32 were asked for, which may take 26, at most 16 can "
        "be served");
    EXPECT_EQ(outcome_of([&] { return fixed.allocate(17, 16); }, &sentence), outcome::request_too_large);
    EXPECT_EQ(sentence, "acre::buffer: request too large: 17 bytes were asked for, at most 16 can be served");
}
#endif

TEST(buffer, takes_back_the_last_and_all) {
    raw_storage storage{256};
    acre::buffer fixed{storage.span()};
    constexpr std::size_t redzone = acre::redzone_bytes;
    void* a = fixed.allocate(100, 1);
    void* b = fixed.allocate(100, 1);
    fixed.deallocate(b, 100, 1);
    EXPECT_EQ(fixed.used(), 100u + redzone);
    EXPECT_EQ(fixed.allocate(50, 1), b);
    void* c = fixed.allocate(50, 1);
    fixed.deallocate(a, 100, 1);
    EXPECT_EQ(fixed.used(), 200u + 3 * redzone);
    fixed.deallocate(b, 50, 1);
    fixed.deallocate(c, 50, 1);
    EXPECT_EQ(fixed.used(), 0u);
    EXPECT_EQ(fixed.allocate(256, 1), a);
}

// Hazard X13.
TEST(buffer, required_bytes_are_exact) {
    for (const std::size_t alignment : {1u, 4u, 16u, 64u, 512u}) {
        for (const std::size_t size : {0u, 1u, 7u, 16u, 24u, 100u}) {
            for (const std::size_t count : {0u, 1u, 2u, 9u}) {
                const std::size_t bytes = acre::buffer::required_bytes(count, size, alignment);
                raw_storage storage{bytes + 1};
                acre::buffer exact{storage.span().first(bytes)};
                for (std::size_t i = 0; i < count; ++i) EXPECT_NE(exact.try_allocate(size, alignment), nullptr);
                EXPECT_EQ(exact.try_allocate(size, alignment), nullptr);
                if (count == 0) continue;
                acre::buffer less{storage.span().first(bytes - 1)};
                for (std::size_t i = 0; i + 1 < count; ++i) EXPECT_NE(less.try_allocate(size, alignment), nullptr);
                EXPECT_EQ(less.try_allocate(size, alignment), nullptr);
            }
        }
    }
}

// Hazard M13.
TEST(buffer, required_bytes_do_not_wrap) {
    static_assert(acre::buffer::required_bytes(SIZE_MAX, 16, 16) == SIZE_MAX);
    static_assert(acre::buffer::required_bytes(acre_test::root_of_all, acre_test::root_of_all, 8) == SIZE_MAX);
    static_assert(acre::buffer::required_bytes(2, SIZE_MAX, 8) == SIZE_MAX);
}

TEST(buffer, reset_takes_all_back) {
    raw_storage storage{64};
    acre::buffer fixed{storage.span()};
    void* p = fixed.allocate(64, 1);
    fixed.reset();
    EXPECT_EQ(fixed.used(), 0u);
    EXPECT_EQ(fixed.allocate(64, 1), p);
}

// Hazard C6.
TEST(buffer, a_pointer_of_another_buffer_is_reported) {
    raw_storage storage{128};
    acre::buffer one{storage.span().first(64)};
    acre::buffer other{storage.span().subspan(64)};
    void* p = one.allocate(16, 1);
    (void)other.allocate(16, 1);
    EXPECT_DEATH(other.deallocate(p, 16, 1), "acre::buffer: a pointer was given back that is not of this buffer");
    one.deallocate(p, 16, 1);
    EXPECT_DEATH(one.deallocate(p, 16, 1), "acre::buffer: a pointer was given back");
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
// Hazard X11.
TEST(buffer, freed_and_unused_storage_is_reported) {
    raw_storage storage{256};
    {
        acre::buffer fixed{storage.span()};
        auto* p = static_cast<volatile char*>(fixed.allocate(32, 8));
        p[31] = 1;
        EXPECT_DEATH(p[32] = 1, "use-after-poison");
        (void)fixed.allocate(8, 8);
        EXPECT_DEATH(fixed.deallocate(const_cast<char*>(p), 40, 8), "acre::buffer: freed with another size");
        fixed.deallocate(const_cast<char*>(p), 32, 8);
        EXPECT_DEATH(p[0] = 1, "use-after-poison");
        EXPECT_DEATH(fixed.deallocate(const_cast<char*>(p), 32, 8), "acre::buffer: double free");
    }
    storage.span()[0] = std::byte{1};
}
#endif

// Hazard Y5: in every build that poisons.
TEST(buffer, an_overflow_by_one_into_a_neighbour_is_reported) {
    if (!acre::poisoning) GTEST_SKIP() << "an ordinary build has no redzones";
    raw_storage storage{4096};
    acre::buffer fixed{storage.span()};
    acre::inline_buffer<4096> own;
    for (const std::size_t bytes : {16u, 24u, 64u, 100u}) {
        for (acre::buffer* tested : {&fixed, static_cast<acre::buffer*>(&own)}) {
            auto* p = static_cast<volatile char*>(tested->allocate(bytes, 8));
            auto* next = static_cast<volatile char*>(tested->allocate(bytes, 8));
            EXPECT_TRUE(acre::is_poisoned(const_cast<char*>(p + bytes))) << bytes;
            EXPECT_TRUE(acre::is_poisoned(const_cast<char*>(next - 1))) << bytes;
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
            EXPECT_DEATH(p[bytes] = 1, "use-after-poison") << bytes;
            EXPECT_DEATH(next[-1] = 1, "use-after-poison") << bytes;
#endif
            p[bytes - 1] = 1;
            next[0] = 1;
        }
    }
}

// Each is full at the same request in every build: its redzones are no part of its bytes.
TEST(inline_buffer, redzones_take_none_of_its_bytes) {
    for (const std::size_t size : {1u, 5u, 16u, 24u}) {
        acre::inline_buffer<240, 16> own;
        std::size_t count = 0;
        while (own.try_allocate(size, 1) != nullptr) ++count;
        EXPECT_EQ(count, 240 / size);
        EXPECT_EQ(own.used(), count * size);
    }
    acre::inline_buffer<8192, 1> unaligned;
    for (std::size_t alignment = 1; alignment <= 2048; alignment *= 2) {
        void* p = unaligned.allocate(3, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
        EXPECT_TRUE(unaligned.owns(p));
        const std::size_t used = unaligned.used();
        void* last = unaligned.allocate(7, alignment);
        unaligned.deallocate(last, 7, alignment);
        EXPECT_LT(unaligned.used(), used + alignment);
    }
}

TEST(buffer, the_storage_is_the_users_again_afterwards) {
    raw_storage storage{512};
    {
        acre::buffer fixed{storage.span()};
    }
    std::memset(storage.span().data(), 1, 512);
    alignas(16) unsigned char place[sizeof(acre::inline_buffer<256>)];
    auto* made = ::new (place) acre::inline_buffer<256>;
    (void)made->allocate(100);
    made->~inline_buffer();
    std::memset(place, 1, sizeof place);
    EXPECT_EQ(place[sizeof place - 1], 1);
}

}  // namespace
