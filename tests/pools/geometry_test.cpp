// The layout of slots, headers and size classes: addresses stay inside their slabs, headers inside the first slab, and
// each request gets the right class.
#include <gtest/gtest.h>

#include <acre/core/alignment.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/size_classes.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sizes.hpp"

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
    using tables = acre::detail::size_class_tables<acre::default_size_classes>;
    all.insert(all.end(), tables::geometry.begin(), tables::geometry.end());
    return all;
}

// Slabs begin at multiples of their size; the slab number decides the header's offset.
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
                    const std::size_t first = each.first_covered(start);
                    if (slot >= each.slots(bytes) || (slot >= first && slot < first + each.covered)) continue;
                    ++usable;
                    const std::uintptr_t from = start + slot * each.stride;
                    ASSERT_LE(from + each.slot_bytes, start + bytes) << "slots of " << each.slot_bytes;
                    ASSERT_TRUE(from + each.stride <= header || from >= header + each.header_bytes())
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
            const std::uintptr_t address = start + slot * each.stride;
            ASSERT_EQ(each.slot_index(address), slot) << "slots of " << each.slot_bytes;
            ASSERT_EQ(each.slab_start(address), start);
            ASSERT_EQ(each.header_address(address), each.header_address(start));
        }
    }
}

// Hazard Y2: by a mask, by the fraction of a multiplication, or by a second multiplication.
TEST(slab_geometry, slots_begin_at_multiples_of_the_stride_and_nowhere_else) {
    for (const auto& each : geometries()) {
        const std::uintptr_t start = 7 * each.slab_bytes;
        // Around the begin of each slot.
        for (std::size_t offset = 0; offset < each.slab_bytes; offset += each.stride) {
            for (const std::size_t tested : {offset, offset + 1, offset + each.stride / 2, offset + each.stride - 1}) {
                if (tested >= each.slab_bytes) continue;
                const bool begins = tested % each.stride == 0;
                ASSERT_EQ(each.begins_slot(start + tested), begins) << tested << " in slots of " << each.stride;
                if (!each.fraction_is_exact()) continue;
                const auto reciprocal = static_cast<std::uint32_t>(each.reciprocal);
                ASSERT_EQ(each.begins_slot(each.slot_number(start + tested), reciprocal), begins)
                    << tested << " in slots of " << each.stride;
            }
        }
    }
}

// Whatever lies in a slab has a byte in the map, also what is left behind the last slot.
TEST(slab_geometry, every_address_of_a_slab_has_a_place_in_the_map) {
    for (const auto& each : geometries()) {
        const std::size_t last = each.slot_index(8 * each.slab_bytes - 1);
        ASSERT_LT(acre::detail::slab_geometry::header_front + last, each.map_end()) << "slots of " << each.slot_bytes;
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

using default_tables = acre::detail::size_class_tables<acre::default_size_classes>;

struct powers_of_two {
    static constexpr auto bytes = [] {
        std::array<std::size_t, 10> sizes{};
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::size_t{16} << i;
        return sizes;
    }();
};

// A class for each of many sizes: more than the bits of a word.
struct multiples_of_8 {
    static constexpr auto bytes = [] {
        std::array<std::size_t, 256> sizes{};
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = 8 * (i + 1);
        return sizes;
    }();
};

template <std::size_t... Bytes>
using tables_of = acre::detail::size_class_tables<acre::size_class_list<Bytes...>>;

static_assert(default_tables::count == 64 && default_tables::largest == 8192 && default_tables::granularity == 8);
static_assert(default_tables::bytes(15) == 128 && default_tables::bytes(16) == 144);
static_assert(default_tables::largest_common >= 512);
static_assert(!default_tables::needs_search(4096));
static_assert(!acre::detail::size_class_tables<powers_of_two>::needs_search(4096));
static_assert(!tables_of<24, 40>::needs_search(8) && tables_of<24, 40>::needs_search(16));

static_assert(acre::size_class_policy<acre::size_class_list<8>>);
static_assert(acre::size_class_policy<acre::size_class_list<24, 262'144>>);
static_assert(!acre::size_class_policy<acre::size_class_list<0, 8>>);
static_assert(!acre::size_class_policy<acre::size_class_list<24, 24>>);
static_assert(!acre::size_class_policy<acre::size_class_list<32, 24>>);
static_assert(!acre::size_class_policy<acre::size_class_list<20>>);
static_assert(!acre::size_class_policy<acre::size_class_list<262'152>>);
static_assert(!acre::size_class_policy<acre::size_class_list<>>);
static_assert(!acre::size_class_policy<int>);
// The largest table is computed within what compilers spend on a constant.
static_assert(tables_of<8, 262'144>::by_size.back() == 1);

// The smallest class of `Tables` that has room for a request and whose size is a multiple of its alignment.
template <class Tables>
std::size_t expected_class(std::size_t bytes, std::size_t alignment) {
    std::size_t index = 0;
    while (index < Tables::count && (Tables::bytes(index) < bytes || Tables::bytes(index) % alignment != 0)) ++index;
    return index;
}

template <class Tables>
class size_classes : public testing::Test {};

using all_tables = testing::Types<default_tables, acre::detail::size_class_tables<powers_of_two>,
                                  acre::detail::size_class_tables<multiples_of_8>, tables_of<24, 40, 136>, tables_of<8>,
                                  tables_of<2048, 6000, 65536>>;
TYPED_TEST_SUITE(size_classes, all_tables);

// Hazard C3: the class is a multiple of the alignment.
TYPED_TEST(size_classes, every_request_gets_the_smallest_class_that_fits) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(TypeParam::largest + 8, 9000); ++bytes) {
            std::size_t index = 0;
            const bool found = TypeParam::find(bytes, alignment, index);
            const std::size_t expected = expected_class<TypeParam>(bytes, alignment);
            ASSERT_EQ(found, expected < TypeParam::count) << bytes << " aligned to " << alignment;
            if (found) {
                ASSERT_EQ(index, expected) << bytes << " aligned to " << alignment;
            }
        }
    }
}

// Hazard C1.
TYPED_TEST(size_classes, a_size_that_is_a_class_falls_into_it) {
    for (std::size_t expected = 0; expected < TypeParam::count; ++expected) {
        std::size_t index = 0;
        EXPECT_TRUE(TypeParam::find(TypeParam::bytes(expected), 1, index));
        EXPECT_EQ(index, expected);
    }
}

TYPED_TEST(size_classes, nothing_wraps) {
    std::size_t index = 0;
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        EXPECT_FALSE(TypeParam::find(0, alignment, index));
        EXPECT_FALSE(TypeParam::find(SIZE_MAX, alignment, index));
    }
    EXPECT_FALSE(TypeParam::find(8, 0, index));
    EXPECT_FALSE(TypeParam::find(8, acre_test::half_of_all, index));
}

TEST(default_size_classes, waste_at_most_7_bytes_or_an_eighth) {
    for (std::size_t bytes = 1; bytes <= default_tables::largest; ++bytes) {
        std::size_t index = 0;
        ASSERT_TRUE(default_tables::find(bytes, 1, index));
        const std::size_t waste = default_tables::bytes(index) - bytes;
        ASSERT_TRUE(waste < 8 || waste * 8 <= bytes) << bytes << " takes " << default_tables::bytes(index);
    }
}

}  // namespace
