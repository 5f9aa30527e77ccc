// Objects, arrays and text in an arena: destroyed once, newest first; a constructor that throws leaves nothing.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/alignment.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/statistics.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

struct Orc {
    explicit Orc(const char* of) : name(of) {}
    std::string name;
};

TEST(arena, example) {
    acre::arena level;
    Orc* orc = level.create<Orc>("URG");
    std::span<float> heights = level.allocate<float>(1024);
    std::string_view name = level.copy("Ugluk");
    EXPECT_EQ(orc->name, "URG");
    heights[1023] = 1;
    EXPECT_EQ(name, "Ugluk");
    level.reset();
    EXPECT_EQ(level.used(), 0u);
}

class arena_objects : public testing::Test {
protected:
    void SetUp() override { tracked::start(); }
    void TearDown() override { EXPECT_EQ(tracked::live, 0); }
};

TEST_F(arena_objects, are_destroyed_newest_first) {
    {
        acre::arena tested;
        for (int i = 0; i < 5; ++i) EXPECT_EQ(tested.create<tracked>(i)->number(), i);
    }
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{4, 3, 2, 1, 0}));
}

TEST_F(arena_objects, of_trivial_types_pay_nothing) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take more room here";
    acre::arena tested;
    auto* a = tested.create<std::uint64_t>(1u);
    auto* b = tested.create<std::uint64_t>(2u);
    EXPECT_EQ(a + 1, b);
    EXPECT_EQ(tested.used(), 16u);
}

// Row of docs/porting.md.
TEST_F(arena_objects, arrays_are_made_from_arguments) {
    acre::arena tested;
    const std::string text(100, 'x');
    for (const std::string& each : tested.create_array<std::string>(3, text)) EXPECT_EQ(each, text);
    for (const Orc& each : tested.try_create_array<Orc>(2, "URG")) EXPECT_EQ(each.name, "URG");
    for (const std::string& each : tested.create_array<std::string>(2, 3u, 'y')) EXPECT_EQ(each, "yyy");
    acre::synchronized<acre::statistics<acre::arena>> wrapped;
    EXPECT_EQ(wrapped.create_array<Orc>(2, "URG")[1].name, "URG");
    acre::checked<acre::arena> checked;
    EXPECT_EQ(checked.create_array<Orc>(2, "URG")[1].name, "URG");
    EXPECT_EQ(checked.try_create_array<std::string>(2, 3u, 'y')[1], "yyy");
}

// Hazard A11: two pointers in front of an object that needs a destructor, three once for an array.
TEST_F(arena_objects, records_are_small) {
    acre::arena tested;
    tested.create<std::unique_ptr<int>>(std::make_unique<int>(1));
    EXPECT_EQ(tested.used(), acre::align_up((2 + 1) * sizeof(void*), 8) + acre::redzone_bytes);
    tested.reset();
    tested.create_array<std::unique_ptr<int>>(100);
    EXPECT_EQ(tested.used(), acre::align_up((3 + 100) * sizeof(void*), 8) + acre::redzone_bytes);
}

TEST_F(arena_objects, lie_aligned_behind_their_records) {
    struct alignas(128) wide {
        tracked member;
    };
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 4096}};
    for (int i = 0; i < 50; ++i) {
        (void)tested.allocate(static_cast<std::size_t>(i) % 24, 1);
        EXPECT_TRUE(acre::is_aligned(tested.create<wide>(), 128));
        EXPECT_TRUE(acre::is_aligned(tested.create_array<wide>(2).data(), 128));
    }
    EXPECT_EQ(tracked::live, 150);
}

// Hazards A12, M10, promise 7: a constructor that throws leaves no record, and its storage is free again.
TEST_F(arena_objects, a_constructor_that_throws_keeps_nothing) {
    acre::arena tested;
    tested.create<tracked>();
    const std::size_t used = tested.used();
    tracked::throw_at = 2;
    EXPECT_THROW(tested.create<tracked>(), std::runtime_error);
    EXPECT_EQ(tested.used(), used);
    tracked::throw_at = 0;
    tested.create<tracked>();
    tested.reset();
    EXPECT_EQ(tracked::destroyed.size(), 2u);
}

struct creates_then_throws {
    explicit creates_then_throws(acre::arena& in) {
        in.create<tracked>(1);
        in.create_array<tracked>(3);
        throw std::runtime_error("after creating");
    }
    ~creates_then_throws() { ADD_FAILURE() << "was never constructed"; }
};

// Hazard A2: objects created in a constructor that throws stay alive, and are destroyed once.
TEST_F(arena_objects, create_in_a_constructor_that_throws) {
    checking_upstream upstream;
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 512}, upstream};
    for (int i = 0; i < 20; ++i) {
        EXPECT_THROW(tested.create<creates_then_throws>(tested), std::runtime_error);
        std::memset(tested.allocate(100), 0xEE, 100);
    }
    EXPECT_EQ(tracked::live, 80);
    tested.reset();
    EXPECT_EQ(tracked::destroyed.size(), 80u);
}

struct owner {
    explicit owner(acre::arena& in) : part(in.create<tracked>(1)) {}
    ~owner() { EXPECT_EQ(part->number(), 1) << "the part died before its owner"; }
    tracked* part;
};

TEST_F(arena_objects, create_in_a_constructor_outlives_its_creator) {
    acre::arena tested;
    tested.create<owner>(tested);
}

struct creates_when_destroyed {
    acre::arena& in;
    int left;
    ~creates_when_destroyed() {
        in.create<tracked>(left);
        if (left > 0) in.create<creates_when_destroyed>(in, left - 1);
    }
};

// Hazard A6: objects that a destructor creates during a reset are destroyed, too.
TEST_F(arena_objects, create_in_a_destructor_is_destroyed_too) {
    checking_upstream upstream;
    for (const auto& policy : {acre::keep_all, acre::keep_largest, acre::release}) {
        tracked::start();
        acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 128}, upstream};
        tested.create<tracked>(100);
        tested.create<creates_when_destroyed>(tested, 20);
        tested.reset(policy);
        EXPECT_EQ(tracked::constructed, 22);
        EXPECT_EQ(tracked::destroyed.size(), 22u);
        EXPECT_EQ(tracked::live, 0);
        EXPECT_EQ(tested.used(), 0u);
    }
    acre::arena tested{upstream};
    const auto where = tested.mark();
    tested.create<creates_when_destroyed>(tested, 3);
    tested.rewind(where);
    EXPECT_EQ(tracked::live, 0);
}

// Hazards A13, B2.
TEST_F(arena_objects, arrays_store_one_record_and_die_backwards) {
    acre::arena tested;
    const std::span<tracked> array = tested.create_array<tracked>(4);
    auto* next = static_cast<std::byte*>(tested.allocate(8));
    EXPECT_GE(next, reinterpret_cast<std::byte*>(array.data() + 4));
    tested.reset();
    EXPECT_EQ(tracked::destroyed, (std::vector<int>{3, 2, 1, 0}));
}

TEST_F(arena_objects, array_elements_that_throw_undo_the_array) {
    for (int k = 1; k <= 6; ++k) {
        tracked::start();
        acre::arena tested;
        (void)tested.allocate(8);
        const std::size_t used = tested.used();
        tracked::throw_at = k;
        EXPECT_THROW(tested.create_array<tracked>(6), std::runtime_error);
        EXPECT_EQ(tracked::live, 0) << k;
        EXPECT_EQ(static_cast<int>(tracked::destroyed.size()), k - 1);
        EXPECT_EQ(tested.used(), used);
        tested.reset();
        EXPECT_EQ(static_cast<int>(tracked::destroyed.size()), k - 1) << "destroyed twice";
    }
}

TEST_F(arena_objects, arrays_of_values_are_zeroed) {
    checking_upstream upstream;
    acre::arena tested{upstream};
    for (const int each : tested.create_array<int>(500)) ASSERT_EQ(each, 0);
    EXPECT_TRUE(tested.create_array<tracked>(0).empty());
    EXPECT_EQ(tested.allocate<int>(0).size(), 0u);
}

// Hazard B6.
TEST_F(arena_objects, counts_that_wrap_are_refused) {
    acre::arena tested;
    for (const std::size_t count : {SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 16 + 1, SIZE_MAX / 2 / 8}) {
        EXPECT_THROW((void)tested.allocate<double>(count), acre::allocation_error);
        EXPECT_EQ(tested.try_allocate<double>(count).data(), nullptr);
        EXPECT_THROW(tested.create_array<std::string>(count), acre::allocation_error);
        EXPECT_EQ(tested.try_create_array<std::string>(count).data(), nullptr);
    }
    EXPECT_EQ(tested.used(), 0u);
}

TEST_F(arena_objects, try_forms_give_null_without_memory) {
    checking_upstream upstream;
    upstream.fail_from(1);
    acre::arena tested{upstream};
    EXPECT_EQ(tested.try_allocate(8), nullptr);
    EXPECT_EQ(tested.try_allocate<int>(8).data(), nullptr);
    EXPECT_EQ(tested.try_create<int>(1), nullptr);
    EXPECT_EQ(tested.try_create<tracked>(1), nullptr);
    EXPECT_EQ(tested.try_create_array<tracked>(2).data(), nullptr);
    EXPECT_EQ(tested.try_copy("text").data(), nullptr);
    upstream.recover();
    EXPECT_EQ(tested.try_create<tracked>(5)->number(), 5);
    EXPECT_EQ(tested.try_create_array<tracked>(2).size(), 2u);
    EXPECT_EQ(tested.try_copy("text"), "text");
}

TEST_F(arena_objects, text_is_copied_and_formatted_with_a_zero_behind) {
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 64}};
    for (std::size_t length = 0; length < 200; ++length) {
        const std::string text(length, 'a');
        const std::string_view copy = tested.copy(text);
        EXPECT_EQ(copy, text);
        EXPECT_EQ(copy.data()[length], '\0');
        const std::string_view formatted = tested.format("%s-%zu", text.c_str(), length);
        EXPECT_EQ(formatted, text + "-" + std::to_string(length));
        EXPECT_EQ(formatted.data()[formatted.size()], '\0');
    }
    EXPECT_EQ(tested.format("%s", "").size(), 0u);
}

}  // namespace
