// acre::limited refuses requests beyond its limit, through every member.
#include <acre/combine/limited.hpp>

#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre::limited;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

static_assert(acre::owning_resource<limited<acre::pool<64>>>);
static_assert(acre::resizable_resource<limited<acre::arena>>);
static_assert(!std::is_copy_constructible_v<limited<acre::pool<64>>>);
static_assert(std::is_nothrow_move_constructible_v<limited<acre::pool<64>>>);
static_assert(!std::is_move_constructible_v<limited<acre::arena>>);
static_assert(!std::is_default_constructible_v<limited<acre::heap>>, "a limit is to be given");

TEST(limited, example) {
    using namespace acre::literals;
    acre::arena level;
    acre::limited<acre::multi_pool> plugin{{.limit_bytes = 64_MiB}};
    plugin.deallocate(plugin.allocate(1000), 1000);
    EXPECT_EQ(plugin.peak_bytes(), 1000u);
    acre::limited<acre::resource_ref> part{{.limit_bytes = 1_MiB}, level};
    EXPECT_TRUE(level.owns(part.allocate(100)));
}

TEST(limited, is_exact) {
    limited<acre::heap> tested{{.limit_bytes = 1000}};
    void* a = tested.allocate(600);
    EXPECT_EQ(tested.try_allocate(401), nullptr);
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(401); }, &sentence), refused_as(outcome::limit_exceeded));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(sentence,
                  "acre::limited: limit exceeded: 401 bytes more were needed, 600 of the limit of 1000 bytes are held");
    }
    void* b = tested.allocate(400);
    EXPECT_EQ(tested.live_bytes(), 1000u);
    EXPECT_EQ(tested.live_count(), 2u);
    EXPECT_EQ(tested.try_allocate(1), nullptr);
    void* nothing = tested.allocate(0);
    EXPECT_NE(nothing, nullptr) << "takes nothing of the limit";
    tested.deallocate(nothing, 0);
    tested.deallocate(a, 600);
    EXPECT_EQ(tested.live_bytes(), 400u);
    EXPECT_EQ(tested.peak_bytes(), 1000u);
    EXPECT_EQ(tested.limit_bytes(), 1000u);
    tested.deallocate(nullptr, 100);
    EXPECT_EQ(tested.live_bytes(), 400u);
    tested.deallocate(b, 400);
    EXPECT_EQ(tested.live_count(), 0u);
    EXPECT_EQ(tested.try_allocate(SIZE_MAX), nullptr);
}

TEST(limited, a_request_that_the_resource_refuses_takes_nothing) {
    checking_upstream below;
    limited<acre::resource_ref> tested{{.limit_bytes = 1000}, below};
    below.fail_from(1, 2);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(900, 8); }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(tested.try_allocate(900, 8), nullptr);
    EXPECT_EQ(tested.live_bytes(), 0u);
    EXPECT_EQ(tested.peak_bytes(), 0u);
    tested.deallocate(tested.allocate(1000, 8), 1000, 8);
}

TEST(limited, options_of_both) {
    checking_upstream below;
    limited<acre::arena> tested{{.limit_bytes = 5000}, {.first_block_bytes = 128, .max_block_bytes = 256}, below};
    (void)tested.allocate(10);
    EXPECT_EQ(below.sizes().front(), 128u);
    acre::pmr<limited<acre::multi_pool>> face{{.limit_bytes = 100}};
    EXPECT_EQ(face->limit_bytes(), 100u);
}

TEST(limited, slots_and_objects) {
    limited<acre::pool<64>> slots{{.limit_bytes = 128}};
    void* p = slots.allocate();
    void* q = slots.try_allocate();
    EXPECT_EQ(outcome_of([&] { return slots.allocate(); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(slots.try_allocate(), nullptr);
    slots.deallocate(q);
    slots.deallocate(p);
    EXPECT_EQ(slots.live_bytes(), 0u);

    limited<acre::object_pool<std::string>> objects{{.limit_bytes = 2 * sizeof(std::string)}};
    std::string* one = objects.create("one");
    objects.create("two");
    EXPECT_EQ(outcome_of([&] { return objects.create("three"); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(objects.try_create("three"), nullptr);
    objects.destroy(one);
    EXPECT_NE(objects.try_create("three"), nullptr);
    objects.reset();
    EXPECT_EQ(objects.live_bytes(), 0u);
}

TEST(limited, arenas) {
    limited<acre::arena> tested{{.limit_bytes = 100}};
    (void)tested.allocate<char>(50);
    EXPECT_EQ(tested.remaining(), 50u) << "the block has more room than the limit";
    const auto half = tested.mark();
    (void)tested.create<std::uint64_t>(7u);
    EXPECT_EQ(tested.copy("0123456789").size(), 10u);
    EXPECT_EQ(tested.live_bytes(), 69u);
    EXPECT_EQ(tested.format("%d", 12345678), "12345678");
    EXPECT_EQ(tested.live_bytes(), 78u);
    EXPECT_EQ(outcome_of([&] { return tested.format("%030d", 1).data(); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(outcome_of([&] { return tested.copy("a text of 22 characters").data(); }),
              refused_as(outcome::limit_exceeded));
    EXPECT_EQ(tested.try_copy("a text of 22 characters").data(), nullptr);
    EXPECT_EQ(outcome_of([&] { return tested.allocate<int>(10).data(); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(tested.try_allocate<int>(10).data(), nullptr);
    EXPECT_EQ(outcome_of([&] { return tested.create_array<int>(10).data(); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(tested.try_create_array<int>(10).data(), nullptr);
    EXPECT_EQ(tested.live_bytes(), 78u);
    tested.rewind(half);
    EXPECT_EQ(tested.live_bytes(), 50u);
    tested.reset();
    EXPECT_EQ(tested.live_bytes(), 0u);
    EXPECT_EQ(tested.peak_bytes(), 78u);
}

TEST(limited, growing_in_place_counts) {
    limited<acre::arena> tested{{.limit_bytes = 1000}};
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 1000));
    EXPECT_EQ(tested.live_bytes(), 1000u);
    EXPECT_EQ(tested.peak_bytes(), 1000u);
    EXPECT_FALSE(tested.try_resize(p, 1000, 1001));
    EXPECT_TRUE(tested.try_resize(p, 1000, 500));
    EXPECT_EQ(tested.live_bytes(), 500u);
    void* q = tested.allocate(100);
    EXPECT_FALSE(tested.try_resize(p, 500, 600)) << "no longer the last";
    EXPECT_EQ(tested.live_bytes(), 600u);
    tested.deallocate(q, 100);
    tested.deallocate(p, 500);
    EXPECT_EQ(tested.live_bytes(), 0u);
}

// Allocations in a constructor count on top of the object's own bytes.
TEST(limited, holds_within_a_constructor) {
    struct greedy {
        explicit greedy(limited<acre::arena>& from) : more(from.try_allocate(60, 8)) {}
        void* more;
        char room[40] = {};
    };
    limited<acre::arena> tested{{.limit_bytes = 100}};
    EXPECT_EQ(tested.create<greedy>(tested)->more, nullptr);
    EXPECT_EQ(tested.peak_bytes(), sizeof(greedy));
}

// Hazard X16.
TEST(limited, moves_with_what_is_live) {
    limited<acre::pool<64>> first{{.limit_bytes = 128}};
    void* p = first.allocate();
    auto second = std::move(first);
    EXPECT_EQ(first.live_bytes(), 0u);
    EXPECT_EQ(second.live_bytes(), 64u);
    EXPECT_EQ(second.limit_bytes(), 128u);
    second.deallocate(p);
    first.deallocate(first.allocate());
    first = std::move(second);
    EXPECT_EQ(first.peak_bytes(), 64u);
}

TEST(limited, agrees_with_a_reference_over_random_work) {
    constexpr std::size_t limit = 20'000;
    limited<acre::multi_pool> tested{{.limit_bytes = limit}};
    struct item {
        void* p;
        std::size_t bytes;
    };
    std::vector<item> live;
    std::size_t bytes = 0;
    std::size_t peak = 0;
    std::mt19937 random{9};
    for (int i = 0; i < 20'000; ++i) {
        if (live.empty() || random() % 2 == 0) {
            const std::size_t size = random() % 3000;
            void* p = tested.try_allocate(size);
            ASSERT_EQ(p != nullptr, bytes + size <= limit);
            if (p == nullptr) continue;
            live.push_back({p, size});
            bytes += size;
            peak = std::max(peak, bytes);
        } else {
            std::swap(live[random() % live.size()], live.back());
            tested.deallocate(live.back().p, live.back().bytes);
            bytes -= live.back().bytes;
            live.pop_back();
        }
        ASSERT_EQ(tested.live_bytes(), bytes);
        ASSERT_EQ(tested.live_count(), live.size());
    }
    EXPECT_EQ(tested.peak_bytes(), peak);
    EXPECT_GT(peak, limit / 2);
}

#if defined(__cpp_exceptions)
TEST(limited, options_are_checked) {
    EXPECT_THROW(limited<acre::heap>({.limit_bytes = 0}), acre::bad_option);
}

// Hazard M10.
TEST(limited, a_constructor_that_throws_takes_nothing) {
    struct unwilling {
        unwilling() { throw 1; }
        char room[50];
    };
    limited<acre::arena> tested{{.limit_bytes = 100}};
    for (int i = 0; i < 5; ++i) EXPECT_THROW(tested.create<unwilling>(), int);
    EXPECT_EQ(tested.live_bytes(), 0u);
}
#endif

}  // namespace
