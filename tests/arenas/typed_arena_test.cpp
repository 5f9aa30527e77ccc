// acre::typed_arena: capacity, alignment, full arenas, objects, sizes.
#include <gtest/gtest.h>

#include <acre/arenas/typed_arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/resource_ref.hpp>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <type_traits>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using namespace acre::literals;
using acre::exhaustion;
using acre::typed_arena;
using acre::typed_arena_options;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

struct orc {
    char name[4] = {'U', 'R', 'G', '\0'};
    int strength = 100;
    double smell = 1000.0;
};
static_assert(sizeof(orc) == 16);

struct odd {
    char bytes[3];
};

constexpr typed_arena_options reusing{.reuse = true};
constexpr typed_arena_options shared{.synchronized = true};
constexpr typed_arena_options shared_and_reusing{.reuse = true, .synchronized = true};
constexpr typed_arena_options giving_null{.when_full = exhaustion::null};
constexpr typed_arena_options falling_back{.when_full = exhaustion::fall_back};

// Promises of all policies, tested over each.
template <class Policy>
class typed_arena_of : public testing::Test {};

template <auto Options>
struct policy {
    static constexpr typed_arena_options options = Options;
};
using policies =
    testing::Types<policy<typed_arena_options{}>, policy<reusing>, policy<shared>, policy<shared_and_reusing>>;
TYPED_TEST_SUITE(typed_arena_of, policies);

// Hazard X16: nothing is copied or moved.
template <class... A>
constexpr bool stays = ((!std::is_copy_constructible_v<A> && !std::is_move_constructible_v<A> &&
                         !std::is_copy_assignable_v<A> && !std::is_move_assignable_v<A>) &&
                        ...);
static_assert(stays<typed_arena<orc, 4>, typed_arena<orc, 4, reusing>, typed_arena<orc, 4, shared>>);

// Hazard B7: a trivial destructor cannot run too early. Only poisoning builds have a destructor, which unpoisons.
template <class... A>
constexpr bool no_end = ((acre::poisoning || std::is_trivially_destructible_v<A>) && ...);
static_assert(no_end<typed_arena<orc, 4>, typed_arena<orc, 4, reusing>, typed_arena<orc, 4, shared>,
                     typed_arena<orc, 4, shared_and_reusing>, typed_arena<orc, 4, falling_back>>);

template <class... A>
constexpr bool owning = (acre::owning_resource<A> && ...);
static_assert(owning<typed_arena<orc, 4>, typed_arena<orc, 4, reusing>>);
static_assert(!acre::owning_resource<typed_arena<orc, 4, falling_back>>, "it does not know what the fallback owns");
static_assert(acre::resettable_resource<typed_arena<orc, 4>> &&
              acre::resettable_resource<typed_arena<orc, 4, reusing>>);
static_assert(!acre::resettable_resource<typed_arena<orc, 4, falling_back>>);

// Sizes are constant expressions.
static_assert(typed_arena<orc, 100>::capacity() == 1600 && typed_arena<orc, 100>::slots() == 100);
static_assert(typed_arena<orc, 100>::required_bytes(100) == 1600);
static_assert(typed_arena<orc, 100>::required_bytes(SIZE_MAX / 16 + 2) == SIZE_MAX);
static_assert(typed_arena<orc, 100>::array_slots(3) == 4 &&
              typed_arena<odd, 100>::array_slots(4) == (12 + sizeof(std::size_t) + 2) / 3);
static_assert(typed_arena<orc, 100>::array_slots(SIZE_MAX / 16 + 2) == SIZE_MAX);
// A build that poisons has redzones.
static_assert(acre::poisoning || sizeof(typed_arena<orc, 100>) <= 1600 + 64);
static_assert(acre::poisoning || sizeof(typed_arena<orc, 4096, reusing>) <= 4096 * 16 + 4096 / 8 * 65 / 64 + 64);

TEST(typed_arena, example) {
    static constinit typed_arena<orc, 1000> orcs;
    orc* urg = orcs.create();
    EXPECT_STREQ(urg->name, "URG");
    orc* band = orcs.allocate_n(12);
    EXPECT_GE(band, urg + 1);
    EXPECT_EQ(orcs.used(), 13 * sizeof(orc));
    orcs.destroy(urg);
    orcs.deallocate_n(band, 12);
    orcs.reset();
    EXPECT_EQ(orcs.used(), 0u);
}

// Hazards B1, X13: an arena of each policy serves exactly the promised number of slots.
TYPED_TEST(typed_arena_of, room_for_exactly_n) {
    constexpr std::size_t count = 100;
    const auto arena = std::make_unique<typed_arena<orc, count, TypeParam::options>>();
    std::set<orc*> given;
    for (std::size_t i = 0; i < count; ++i) {
        orc* p = i % 2 == 0 ? arena->allocate_one() : arena->try_allocate_one();
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(arena->owns(p));
        EXPECT_TRUE(arena->owns(reinterpret_cast<std::byte*>(p + 1) - 1));
        EXPECT_TRUE(given.insert(new (p) orc).second);
    }
    EXPECT_GE(reinterpret_cast<std::byte*>(*given.begin()), reinterpret_cast<std::byte*>(arena.get()));
    EXPECT_LE(reinterpret_cast<std::byte*>(*given.rbegin() + 1), reinterpret_cast<std::byte*>(arena.get() + 1));
    // Redzones lie between slots that are not reused.
    constexpr std::ptrdiff_t stride = acre::poisoning && !TypeParam::options.reuse ? 2 : 1;
    EXPECT_EQ(*given.rbegin() - *given.begin(), stride * static_cast<std::ptrdiff_t>(count - 1));
    for (int again = 0; again < 3; ++again) {
        EXPECT_EQ(outcome_of([&] { return arena->allocate_one(); }), refused_as(outcome::limit_exceeded));
        EXPECT_EQ(outcome_of([&] { return arena->allocate_n(2); }), refused_as(outcome::limit_exceeded));
        EXPECT_EQ(arena->try_allocate_one(), nullptr);
        EXPECT_EQ(arena->try_allocate_n(0), nullptr);
    }
    EXPECT_EQ(arena->used(), arena->capacity());
    arena->reset();
    EXPECT_EQ(arena->allocate_n(count), *given.begin());
    EXPECT_EQ(arena->try_allocate_one(), nullptr);
}

// Promise 3.
TYPED_TEST(typed_arena_of, a_refused_run_changes_nothing) {
    const auto arena = std::make_unique<typed_arena<orc, 10, TypeParam::options>>();
    orc* first = arena->allocate_n(8);
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return arena->allocate_n(3); }, &sentence), refused_as(outcome::limit_exceeded));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(
            sentence,
            "acre::typed_arena: limit exceeded: 48 bytes more were needed, 128 of the limit of 160 bytes are held");
    }
    EXPECT_EQ(outcome_of([&] { return arena->allocate_n(11); }, &sentence), refused_as(outcome::request_too_large));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(sentence,
                  "acre::typed_arena: request too large: 176 bytes were asked for, at most 160 can be served");
    }
    EXPECT_EQ(arena->used(), 8 * sizeof(orc));
    EXPECT_EQ(arena->allocate_n(2), first + (acre::poisoning && !TypeParam::options.reuse ? 16 : 8));
}

template <std::size_t Alignment>
struct alignas(Alignment) aligned {
    char value;
};

template <class T, auto Options>
void expect_aligned() {
    const auto arena = std::make_unique<typed_arena<T, 8, Options>>();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(acre::is_aligned(arena->allocate_one(), alignof(T)));
    EXPECT_TRUE(acre::is_aligned(arena->allocate_n(3), alignof(T)));
}

// Hazard B3.
TYPED_TEST(typed_arena_of, types_of_every_alignment) {
    expect_aligned<aligned<1>, TypeParam::options>();
    expect_aligned<aligned<32>, TypeParam::options>();
    expect_aligned<aligned<64>, TypeParam::options>();
    expect_aligned<aligned<4096>, TypeParam::options>();
    static constinit typed_arena<aligned<4096>, 2, TypeParam::options> at_namespace_scope;
    EXPECT_TRUE(acre::is_aligned(at_namespace_scope.allocate_one(), 4096));
    at_namespace_scope.reset();
}

// As a resource it honours alignments that sizeof(T) implies, and refuses others with bad_alignment.
// Hazard B3.
TEST(typed_arena, alignments_are_honoured_or_refused) {
    typed_arena<orc, 20> arena;
    static_assert(decltype(arena)::max_alignment == 16);
    (void)arena.allocate_one();
    EXPECT_TRUE(acre::is_aligned(arena.allocate(1, 16), 16));
    EXPECT_EQ(outcome_of([&] { return arena.allocate(16, 32); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return arena.allocate(16, 3); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(arena.try_allocate(16, 4096), nullptr);
    static_assert(typed_arena<aligned<64>, 4>::max_alignment == 64);
}

// Slots that are not aligned as requested are skipped.
// Hazard B3.
TYPED_TEST(typed_arena_of, small_types_serve_larger_alignments) {
    const auto arena = std::make_unique<typed_arena<odd, 64, TypeParam::options>>();
    (void)arena->allocate_one();
    for (const std::size_t alignment : {2u, 4u, 8u, 16u}) {
        EXPECT_TRUE(acre::is_aligned(arena->allocate(3, alignment), alignment));
        EXPECT_TRUE(acre::is_aligned(arena->try_allocate(7, alignment), alignment));
    }
    while (arena->try_allocate(1, 16) != nullptr) {
    }
    EXPECT_EQ(outcome_of([&] { return arena->allocate(1); }), refused_as(outcome::limit_exceeded));
}

// Hazard B5.
TYPED_TEST(typed_arena_of, zero_objects_have_a_distinct_address) {
    const auto arena = std::make_unique<typed_arena<orc, 10, TypeParam::options>>();
    const orc* first = arena->allocate_n(0);
    const orc* second = arena->allocate_n(0);
    const orc* object = arena->allocate_one();
    EXPECT_NE(first, second);
    EXPECT_NE(second, object);
    EXPECT_TRUE(arena->owns(first) && arena->owns(second));
    arena->deallocate_n(const_cast<orc*>(second), 0);
    EXPECT_NE(arena->allocate(0), first);
}

// Hazard B6.
TYPED_TEST(typed_arena_of, counts_that_wrap_are_refused) {
    const auto arena = std::make_unique<typed_arena<orc, 10, TypeParam::options>>();
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX / sizeof(orc) + 2, SIZE_MAX / 2, SIZE_MAX / 16 + 1}) {
        EXPECT_EQ(outcome_of([&] { return arena->allocate_n(count); }), refused_as(outcome::request_too_large));
        EXPECT_EQ(arena->try_allocate_n(count), nullptr);
    }
    EXPECT_EQ(outcome_of([&] { return arena->allocate(SIZE_MAX - 3); }), refused_as(outcome::request_too_large));
    EXPECT_EQ(arena->used(), 0u);
}

TEST(typed_arena, null_when_full) {
    typed_arena<orc, 2, giving_null> arena;
    static_assert(noexcept(arena.allocate_one()) && noexcept(arena.allocate_n(2)));
    EXPECT_NE(arena.allocate_n(2), nullptr);
    EXPECT_EQ(arena.allocate_one(), nullptr);
    EXPECT_EQ(arena.allocate_n(SIZE_MAX / 2), nullptr);
    EXPECT_EQ(arena.allocate(8, 3), nullptr);
    EXPECT_EQ(arena.create(), nullptr);
}

TEST(typed_arena, falls_back_when_full) {
    acre_test::checking_upstream other;
    typed_arena<orc, 3, falling_back, acre::resource_ref> arena{acre::resource_ref{other}};
    std::vector<orc*> all;
    for (int i = 0; i < 5; ++i) all.push_back(arena.create());
    EXPECT_EQ(other.live_blocks(), 2u);
    EXPECT_TRUE(arena.owns(all[2]));
    EXPECT_FALSE(arena.owns(all[3]));
    orc* run = arena.allocate_n(4);
    orc* tried = arena.try_allocate_one();
    void* wide = arena.allocate(16, 256);
    EXPECT_EQ(other.live_blocks(), 5u);
    EXPECT_TRUE(acre::is_aligned(wide, 256));
    for (orc* each : all) arena.destroy(each);
    arena.deallocate_n(run, 4);
    arena.deallocate_one(tried);
    arena.deallocate(wide, 16, 256);
    arena.deallocate_one(nullptr);
    EXPECT_EQ(other.live_blocks(), 0u);
}

// Hazard B9.
TEST(typed_arena, a_fallback_that_fails_changes_nothing) {
    acre_test::checking_upstream other;
    constexpr typed_arena_options options{.when_full = exhaustion::fall_back, .reuse = true};
    typed_arena<orc, 1, options, acre::resource_ref> arena{acre::resource_ref{other}};
    orc* own = arena.allocate_one();
    other.fail_from(1);
    EXPECT_EQ(outcome_of([&] { return arena.allocate_one(); }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(arena.try_allocate_n(7), nullptr);
    EXPECT_EQ(arena.used(), sizeof(orc));
    arena.deallocate_one(own);
    EXPECT_EQ(arena.allocate_one(), own);
    other.recover();
    orc* elsewhere = arena.allocate_one();
    EXPECT_FALSE(arena.owns(elsewhere));
    arena.deallocate_one(elsewhere);
}

// Hazard P4.
TYPED_TEST(typed_arena_of, null_is_a_no_op) {
    const auto arena = std::make_unique<typed_arena<orc, 2, TypeParam::options>>();
    arena->deallocate_one(nullptr);
    arena->deallocate_n(nullptr, 7);
    arena->destroy(static_cast<orc*>(nullptr));
    arena->destroy(nullptr);
    arena->class_delete(nullptr, sizeof(orc));
    EXPECT_NE(arena->allocate_n(2), nullptr);
}

TYPED_TEST(typed_arena_of, prefault_changes_no_object) {
    const auto arena = std::make_unique<typed_arena<orc, 2000, TypeParam::options>>();
    orc* p = arena->create();
    orc* band = arena->allocate_n(700);
    std::uninitialized_default_construct_n(band, 700);
    orc* freed = arena->create();
    arena->destroy(freed);
    arena->prefault();
    EXPECT_STREQ(p->name, "URG");
    for (int i = 0; i < 700; ++i) EXPECT_EQ(band[i].strength, 100);
    orc* rest = arena->allocate_n(1298);
    std::uninitialized_default_construct_n(rest, 1298);
    arena->prefault();
    for (int i = 0; i < 1298; ++i) EXPECT_EQ(rest[i].strength, 100);
}

// 64 MiB of objects are not in the program's file.
constinit typed_arena<orc, 4 * 1024 * 1024> many;
constinit typed_arena<orc, 4 * 1024 * 1024, shared_and_reusing> many_reused;

TEST(typed_arena, storage_of_static_duration_is_not_in_the_file) {
    EXPECT_NE(many.allocate_one(), many.allocate_one());
    EXPECT_NE(many_reused.allocate_n(1000), many_reused.allocate_one());
    EXPECT_LT(std::filesystem::file_size("/proc/self/exe"), many.capacity() / 2);
}

TEST(typed_arena, limit_of_exactly_what_it_takes_is_kept) {
    typed_arena<orc, 64, typed_arena_options{.limit_bytes = 1_KiB}> arena;
    EXPECT_NE(arena.allocate_n(64), nullptr);
}

TEST(typed_arena, objects_of_an_empty_class_are_distinct) {
    struct empty {};
    typed_arena<empty, 3> arena;
    const empty* first = arena.create();
    EXPECT_NE(first, arena.create());
    EXPECT_NE(arena.create(), nullptr);
    EXPECT_EQ(arena.try_create(), nullptr);
}

#if defined(__cpp_exceptions)
struct refusing {
    explicit refusing(bool refuses) {
        if (refuses) throw 42;
    }
    long value = 7;
};

// Promise 7.
// Hazard M10.
TYPED_TEST(typed_arena_of, a_constructor_that_throws_keeps_nothing) {
    const auto arena = std::make_unique<typed_arena<refusing, 2, TypeParam::options>>();
    for (int i = 0; i < 10; ++i) EXPECT_THROW(arena->create(true), int);
    EXPECT_EQ(arena->used(), 0u);
    EXPECT_EQ(arena->create(false)->value, 7);
    EXPECT_EQ(arena->try_create(false)->value, 7);
    EXPECT_THROW(arena->create(false), acre::limit_exceeded);
    EXPECT_EQ(arena->try_create(true), nullptr);
}

// Hazard M10.
TEST(typed_arena, a_constructor_that_throws_in_the_fallback_keeps_nothing) {
    acre_test::checking_upstream other;
    typed_arena<refusing, 1, falling_back, acre::resource_ref> arena{acre::resource_ref{other}};
    (void)arena.create(false);
    EXPECT_THROW(arena.create(true), int);
    EXPECT_EQ(other.live_blocks(), 0u);
}
#endif

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TYPED_TEST(typed_arena_of, freed_and_unused_storage_is_reported) {
    const auto arena = std::make_unique<typed_arena<orc, 8, TypeParam::options>>();
    orc* p = arena->create();
    touch(p);
    EXPECT_DEATH(touch(p + 1), "use-after-poison");
    char* short_one = static_cast<char*>(arena->allocate(5));
    touch(short_one + 4);
    EXPECT_DEATH(touch(short_one + 5), "use-after-poison");
    arena->destroy(p);
    EXPECT_DEATH(touch(p), "use-after-poison");
    arena->reset();
    EXPECT_DEATH(touch(short_one), "use-after-poison");
}

// Hazard Y5.
template <class T, acre::typed_arena_options Options>
void expect_redzones() {
    const auto arena = std::make_unique<typed_arena<T, 12, Options>>();
    T* one = arena->allocate_one();
    T* next = arena->allocate_one();
    T* several = arena->allocate_n(3);
    T* last = arena->allocate_one();
    touch(one);
    touch(several + 2);
    EXPECT_DEATH(touch(one + 1), "use-after-poison");
    EXPECT_DEATH(touch(reinterpret_cast<char*>(next) - 1), "use-after-poison");
    EXPECT_DEATH(touch(several + 3), "use-after-poison");
    EXPECT_DEATH(touch(reinterpret_cast<char*>(last) - 1), "use-after-poison");
    EXPECT_EQ(arena->used(), 6 * sizeof(T));
    EXPECT_NE(arena->try_allocate_n(6), nullptr) << "redzones are no part of its slots";
    EXPECT_EQ(arena->try_allocate_one(), nullptr);
}
TYPED_TEST(typed_arena_of, an_overflow_by_one_into_a_neighbour_is_reported) {
    if (TypeParam::options.reuse) GTEST_SKIP() << "a run may be freed in pieces, so there are no redzones";
    struct row {
        char cells[24];
    };
    expect_redzones<char, TypeParam::options>();
    expect_redzones<int, TypeParam::options>();
    expect_redzones<row, TypeParam::options>();
}

TEST(typed_arena, storage_on_the_stack_is_clean_afterwards) {
    for (int i = 0; i < 3; ++i) {
        typed_arena<orc, 8> arena;
        (void)arena.create();
    }
    std::array<char, 200> reused{};
    for (const char& each : reused) touch(&each);
}
#endif

}  // namespace

// Hazard N0: every member compiles.
template class acre::typed_arena<orc, 3>;
template class acre::typed_arena<orc, 3, reusing>;
template class acre::typed_arena<odd, 3, shared>;
template class acre::typed_arena<odd, 3, shared_and_reusing>;
template class acre::typed_arena<orc, 3, giving_null>;
template class acre::typed_arena<orc, 3, falling_back, acre::resource_ref>;
