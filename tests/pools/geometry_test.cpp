// How slots, headers and size classes lie: every address in its slab, no header past its slab's end, every size in its
// class.
#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <acre/pools/detail/size_classes.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <cstdint>
#include <vector>

namespace {

std::vector<acre::detail::slab_geometry> geometries() {
    std::vector<acre::detail::slab_geometry> all;
    for (std::size_t size = 1; size <= 300; ++size) all.push_back(acre::detail::slab_geometry::of(size, 1));
    for (const std::size_t size : {512u, 1000u, 1024u, 4096u, 5000u, 8192u, 20000u, 65536u, 1000000u}) {
        all.push_back(acre::detail::slab_geometry::of(size, 1));
    }
    for (std::size_t alignment = 2; alignment <= 65536; alignment *= 2) {
        all.push_back(acre::detail::slab_geometry::of(24, alignment));
    }
    all.insert(all.end(), acre::detail::size_class_geometry.begin(), acre::detail::size_class_geometry.end());
    return all;
}

// Slabs begin at multiples of their size; headers are spread over the addresses by a colour of that number.
constexpr std::uintptr_t slab_numbers = 256;

TEST(slab_geometry, headers_lie_within_their_slabs_the_first_short_one_too) {
    for (const auto& each : geometries()) {
        for (std::uintptr_t number = 1; number < slab_numbers; ++number) {
            const std::uintptr_t start = number * each.slab_bytes;
            const std::uintptr_t header = each.header_address(start);
            ASSERT_GE(header, start);
            ASSERT_LE(header + each.header_bytes(), start + each.first_slab_bytes)
                << "slots of " << each.slot_bytes << ", slab number " << number << ": the header of "
                << each.header_bytes() << " bytes begins " << header - start << " bytes into the first slab of "
                << each.first_slab_bytes;
        }
    }
}

TEST(slab_geometry, headers_cover_no_slot_that_is_handed_out) {
    for (const auto& each : geometries()) {
        for (std::uintptr_t number = 1; number < slab_numbers; number += 5) {
            const std::uintptr_t start = number * each.slab_bytes;
            const std::uintptr_t header = each.header_address(start);
            for (const std::size_t bytes : {each.first_slab_bytes, each.slab_bytes}) {
                std::size_t usable = 0;
                for (std::size_t slot = 0; slot < each.groups(bytes) * acre::detail::slab_geometry::group_slots;
                     ++slot) {
                    const std::uint64_t mask = each.usable_mask(start, bytes, slot / 64);
                    if ((mask >> (slot % 64) & 1) == 0) continue;
                    ++usable;
                    const std::uintptr_t from = start + slot * each.slot_bytes;
                    ASSERT_LE(from + each.slot_bytes, start + bytes) << "slots of " << each.slot_bytes;
                    ASSERT_TRUE(from + each.slot_bytes <= header || from >= header + each.header_bytes())
                        << "slots of " << each.slot_bytes << ", slab number " << number << ", slot " << slot;
                }
                ASSERT_EQ(usable, each.usable(bytes)) << "slots of " << each.slot_bytes << " in " << bytes;
                ASSERT_GT(usable, 0u);
            }
        }
    }
}

TEST(slab_geometry, every_slot_finds_its_number_and_its_slab) {
    for (const auto& each : geometries()) {
        const std::uintptr_t start = 7 * each.slab_bytes;
        for (std::size_t slot = 0; slot < each.slots(each.slab_bytes); ++slot) {
            const std::uintptr_t address = start + slot * each.slot_bytes;
            ASSERT_EQ(each.slot_index(address), slot) << "slots of " << each.slot_bytes;
            ASSERT_EQ(each.slab_start(address), start);
            ASSERT_EQ(each.header_address(address), each.header_address(start));
        }
    }
}

TEST(slab_geometry, the_first_slab_is_small) {
    for (const auto& each : geometries()) {
        EXPECT_LE(each.first_slab_bytes, each.slab_bytes);
        if (each.slot_bytes <= 256) {
            EXPECT_LE(each.first_slab_bytes, 8192u) << each.slot_bytes;
        }
    }
}

TEST(size_classes, every_size_falls_into_the_smallest_class_that_holds_it) {
    for (std::size_t bytes = 1; bytes <= acre::detail::largest_size_class; ++bytes) {
        const std::size_t index = acre::detail::size_class_of(bytes);
        ASSERT_LT(index, acre::detail::size_class_count);
        ASSERT_GE(acre::detail::size_class_bytes(index), bytes);
        if (index > 0) {
            ASSERT_LT(acre::detail::size_class_bytes(index - 1), bytes);
        }
        const std::size_t waste = acre::detail::size_class_bytes(index) - bytes;
        ASSERT_TRUE(waste < 8 || waste * 8 <= bytes) << bytes << " takes " << acre::detail::size_class_bytes(index);
    }
}

// Hazard C1.
TEST(size_classes, a_size_that_is_a_class_falls_into_it) {
    for (std::size_t index = 0; index < acre::detail::size_class_count; ++index) {
        EXPECT_EQ(acre::detail::size_class_of(acre::detail::size_class_bytes(index)), index);
    }
}

TEST(size_classes, the_table_says_what_the_arithmetic_says) {
    for (std::size_t bytes = 1; bytes <= acre::detail::largest_size_class; ++bytes) {
        ASSERT_EQ(acre::detail::size_class_table[(bytes - 1) / 8], acre::detail::size_class_of(bytes)) << bytes;
    }
}

// Hazard C3: a class that a request with an alignment falls into is a multiple of it.
// Hazard C3.
TEST(size_classes, every_alignment_divides_its_class) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        EXPECT_EQ(acre::detail::size_for_class(0, alignment), 0u);
        EXPECT_EQ(acre::detail::size_for_class(SIZE_MAX, alignment), alignment == 1 ? SIZE_MAX : 0);
        for (std::size_t bytes = 1; bytes <= 8192; ++bytes) {
            const std::size_t looked_up = acre::detail::size_for_class(bytes, alignment);
            ASSERT_GE(looked_up, bytes);
            if (looked_up > acre::detail::largest_size_class) continue;
            const std::size_t slot = acre::detail::size_class_bytes(acre::detail::size_class_of(looked_up));
            ASSERT_EQ(slot % (alignment <= 8 ? std::size_t{8} : alignment), 0u) << bytes << " aligned to " << alignment;
        }
    }
}

}  // namespace
