// A class with operators new and delete from a typed_arena: single objects, arrays, derived classes.
#include <gtest/gtest.h>

#include <acre/arenas/typed_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "conformance/refusal.hpp"

namespace {

using acre::exhaustion;
using acre::typed_arena;
using acre::typed_arena_options;
using acre_test::outcome;
using acre_test::outcome_of;

// A base class declares the operators, since the arena needs the complete class.
struct orc {
    orc() { ++live; }
    orc(const orc&) = delete;
    orc& operator=(const orc&) = delete;
    virtual ~orc() { --live; }
    int strength = 100;

    static inline int live = 0;

    static void* operator new(std::size_t bytes);
    static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept;
    static void* operator new[](std::size_t bytes);
    static void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept;
    static void operator delete(void* p, std::size_t bytes) noexcept;
    static void operator delete[](void* p, std::size_t bytes) noexcept;
};

constinit typed_arena<orc, 100, typed_arena_options{.reuse = true}> orcs;

void* orc::operator new(std::size_t bytes) {
    return orcs.class_new(bytes);
}
void* orc::operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return orcs.try_class_new(bytes);
}
void* orc::operator new[](std::size_t bytes) {
    return orcs.class_new_array(bytes);
}
void* orc::operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return orcs.try_class_new_array(bytes);
}
void orc::operator delete(void* p, std::size_t bytes) noexcept {
    orcs.class_delete(p, bytes);
}
void orc::operator delete[](void* p, std::size_t bytes) noexcept {
    orcs.class_delete_array(p, bytes);
}

TEST(typed_arena_class, example) {
    const orc* one = new orc;
    const orc* other = new (std::nothrow) orc;
    EXPECT_TRUE(orcs.owns(one) && orcs.owns(other));
    EXPECT_EQ(orcs.used(), 2 * sizeof(orc));
    delete one;
    delete other;
    EXPECT_EQ(orcs.used(), 0u);
    EXPECT_EQ(orc::live, 0);
}

// Hazards B2, B10.
TEST(typed_arena_class, arrays_have_room_for_their_cookie) {
    for (std::size_t count = 0; count < 20; ++count) {
        orc* array = new orc[count];
        const orc* next = new orc;
        EXPECT_TRUE(next < array || next >= array + count) << count;
        EXPECT_TRUE(orcs.owns(array));
        EXPECT_LE(orcs.used(), (orcs.array_slots(count) + 1) * sizeof(orc));
        const std::size_t cookie = sizeof(std::size_t);
        EXPECT_GE(orcs.used(), (count + 1) * sizeof(orc) + cookie);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(array[i].strength, 100);
        delete next;
        delete[] array;
        EXPECT_EQ(orcs.used(), 0u);
    }
}

// Hazard B2.
TEST(typed_arena_class, the_room_that_arrays_need_is_stated) {
    std::size_t count = 0;
    while (orcs.array_slots(count + 1) <= orcs.slots()) ++count;
    orc* array = new orc[count];
    EXPECT_EQ(orcs.used(), orcs.capacity());
    EXPECT_EQ(new (std::nothrow) orc, nullptr);
    EXPECT_EQ(new (std::nothrow) orc[1], nullptr);
    delete[] array;
    array = new (std::nothrow) orc[count + 1];
    EXPECT_EQ(array, nullptr);
}

struct twin final {
    int value = 1;
    static void* operator new(std::size_t bytes);
    static void operator delete(void* p) noexcept;
};
struct other_twin final {
    int value = 2;
    static void* operator new(std::size_t bytes);
    static void operator delete(void* p) noexcept;
};
constinit typed_arena<twin, 4> twins;
constinit typed_arena<other_twin, 4> other_twins;
void* twin::operator new(std::size_t bytes) {
    return twins.class_new(bytes);
}
void twin::operator delete(void* p) noexcept {
    twins.class_delete(p);
}
void* other_twin::operator new(std::size_t bytes) {
    return other_twins.class_new(bytes);
}
void other_twin::operator delete(void* p) noexcept {
    other_twins.class_delete(p);
}

TEST(typed_arena_class, classes_of_one_size_stay_apart) {
    static_assert(sizeof(twin) == sizeof(other_twin));
    const twin* one = new twin;
    const other_twin* other = new other_twin;
    EXPECT_TRUE(twins.owns(one) && other_twins.owns(other));
    EXPECT_FALSE(twins.owns(other) || other_twins.owns(one));
    EXPECT_EQ(twins.used(), sizeof(twin));
    delete one;
    delete other;
}

#if defined(__cpp_exceptions)
// Hazards B1, B6.
TEST(typed_arena_class, too_many_throw) {
    std::vector<std::unique_ptr<orc>> all;
    for (std::size_t i = 0; i < orcs.slots(); ++i) all.emplace_back(new orc);
    EXPECT_THROW((void)new orc, acre::limit_exceeded);
    EXPECT_THROW((void)new orc[2], acre::limit_exceeded);
    std::size_t wrapping = SIZE_MAX / sizeof(orc) + 2;
    asm("" : "+r"(wrapping));
    // g++ throws bad_array_new_length itself; clang asks for SIZE_MAX bytes.
    EXPECT_THROW((void)new orc[wrapping], std::bad_alloc);
    all.clear();
    EXPECT_EQ(orcs.used(), 0u);
}
#endif

struct mean_orc : orc {
    char axe[100] = {};
};
struct alignas(64) shield_orc : orc {
    char shield[64] = {};
};
struct loud_orc : orc {
    int loudness() const { return strength * 2; }
};

// Hazards B4, N2, P8: a derived object gets enough room, and storage goes back to where it came from.
TEST(typed_arena_class, derived_classes_go_to_the_heap_both_ways) {
    const std::unique_ptr<orc> before{new orc};
    std::unique_ptr<orc> mean{new mean_orc};
    EXPECT_FALSE(orcs.owns(mean.get()));
    std::unique_ptr<orc> quiet{new (std::nothrow) mean_orc};
    EXPECT_FALSE(orcs.owns(quiet.get()));
    EXPECT_EQ(orcs.used(), sizeof(orc));
    const std::unique_ptr<orc> loud{new loud_orc};
    EXPECT_TRUE(orcs.owns(loud.get())) << "it is as large as an orc";
    mean.reset();
    quiet.reset();
    EXPECT_EQ(orcs.used(), 2 * sizeof(orc));
}

// Hazards B3, B4.
TEST(typed_arena_class, derived_classes_of_stricter_alignment_are_aligned) {
    std::vector<std::unique_ptr<orc>> all;
    for (int i = 0; i < 8; ++i) {
        all.emplace_back(new shield_orc);
        EXPECT_TRUE(acre::is_aligned(all.back().get(), 64));
        EXPECT_FALSE(orcs.owns(all.back().get()));
    }
}

// Arrays of derived objects fit: they are requests for bytes.
// Hazard B4.
TEST(typed_arena_class, arrays_of_derived_classes_have_room) {
    mean_orc* array = new mean_orc[3];
    const std::unique_ptr<orc> next{new orc};
    const auto* after = reinterpret_cast<std::byte*>(array + 3);
    EXPECT_TRUE(reinterpret_cast<std::byte*>(next.get()) >= after ||
                reinterpret_cast<std::byte*>(next.get() + 1) <= reinterpret_cast<std::byte*>(array));
    delete[] array;
    EXPECT_EQ(orcs.used(), sizeof(orc));
}

// With a fallback that refuses everything, derived classes are refused.
// Hazard B4.
TEST(typed_arena_class, derived_classes_can_be_refused_at_run_time) {
    static constinit typed_arena<int, 4, typed_arena_options{}, acre::no_memory> strict;
    EXPECT_NE(strict.class_new(sizeof(int)), nullptr);
    EXPECT_EQ(outcome_of([] { return strict.class_new(48); }), acre_test::refused_as(outcome::request_too_large));
    EXPECT_EQ(strict.try_class_new(48), nullptr);
}

struct alignas(64) wide {
    ~wide() { value = 0; }
    int value = 7;
    static void* operator new[](std::size_t bytes);
    static void operator delete[](void* p, std::size_t bytes) noexcept;
};
constinit typed_arena<wide, 16> wides;
void* wide::operator new[](std::size_t bytes) {
    return wides.class_new_array(bytes);
}
void wide::operator delete[](void* p, std::size_t bytes) noexcept {
    wides.class_delete_array(p, bytes);
}

// Hazards B2, B3.
TEST(typed_arena_class, arrays_of_aligned_objects) {
    wide* array = new wide[3];
    EXPECT_TRUE(wides.owns(array));
    EXPECT_TRUE(acre::is_aligned(array, 64));
    EXPECT_EQ(wides.used(), wides.array_slots(3) * sizeof(wide));
    delete[] array;
}

// The length in front of an array is aligned even for objects smaller than it.
struct tiny {
    ~tiny() { value = 0; }
    char value = 7;
    static void* operator new[](std::size_t bytes);
    static void operator delete[](void* p, std::size_t bytes) noexcept;
};
static_assert(sizeof(tiny) == 1);
constinit typed_arena<tiny, 100, typed_arena_options{.reuse = true}> tinies;
void* tiny::operator new[](std::size_t bytes) {
    return tinies.class_new_array(bytes);
}
void tiny::operator delete[](void* p, std::size_t bytes) noexcept {
    tinies.class_delete_array(p, bytes);
}

// Hazard B2.
TEST(typed_arena_class, the_cookie_is_aligned) {
    tiny* one = tinies.allocate_one();
    tiny* array = new tiny[3];
    EXPECT_TRUE(tinies.owns(array));
    EXPECT_TRUE(acre::is_aligned(array, alignof(std::size_t)));
    EXPECT_EQ(tinies.used(), 1 + tinies.array_slots(3));
    delete[] array;
    tinies.deallocate_one(one);
    EXPECT_EQ(tinies.used(), 0u);
}

// Hazard B4: the fallback would free what it never had.
TEST(typed_arena_class, a_delete_with_another_size_is_reported) {
    wide* one = wides.create();
    EXPECT_DEATH(wides.class_delete(one, 3 * sizeof(wide)), "acre::typed_arena: freed with another size");
    wides.destroy(one);
    wides.class_delete(nullptr, 3 * sizeof(wide));
}

// The smallest form: no reuse, null when full, the arena local to a function.
struct elf {
    int age = 500;
    static auto& elves() {
        static constinit typed_arena<elf, 3, typed_arena_options{.when_full = exhaustion::null}> all;
        return all;
    }
    static void* operator new(std::size_t bytes) noexcept { return elves().class_new(bytes); }
    static void operator delete(void* p, std::size_t bytes) noexcept { elves().class_delete(p, bytes); }
};

TEST(typed_arena_class, local_to_a_function_and_null_when_full) {
    std::vector<elf*> all;
    for (int i = 0; i < 3; ++i) all.push_back(new elf);
    EXPECT_EQ(all[2]->age, 500);
    EXPECT_EQ(new elf, nullptr);
    for (const elf* each : all) delete each;
    EXPECT_EQ(elf::elves().used(), 3 * sizeof(elf)) << "nothing is reused";
    elf::elves().reset();
}

}  // namespace
