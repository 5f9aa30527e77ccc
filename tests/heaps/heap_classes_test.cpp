// The slot sizes of acre::general_heap.
#include <gtest/gtest.h>

#include <acre/heaps/detail/heap_classes.hpp>
#include <cstddef>

namespace {

using acre::detail::heap_class;
using acre::detail::heap_classes;

TEST(heap_classes, each_request_gets_the_smallest_slot_that_holds_it) {
    for (std::size_t bytes = 0; bytes <= heap_classes::largest; ++bytes) {
        const std::size_t found = heap_classes::class_of(bytes);
        ASSERT_GE(found, 1u);
        ASSERT_LT(found, heap_classes::count);
        ASSERT_GE(heap_classes::bytes(found), bytes);
        ASSERT_TRUE(found == 1 || heap_classes::bytes(found - 1) < bytes);
    }
}

TEST(heap_classes, waste_is_at_most_an_eighth) {
    for (std::size_t bytes = 257; bytes <= heap_classes::largest; ++bytes) {
        ASSERT_LE(heap_classes::bytes(heap_classes::class_of(bytes)), bytes + bytes / 8);
    }
    for (std::size_t index = 1; index < heap_classes::count; ++index) {
        const heap_class& each = heap_classes::layouts[index];
        EXPECT_EQ(each.slot_bytes % heap_classes::min_alignment, 0u);
        const std::size_t slab = each.units * heap_classes::unit_bytes;
        EXPECT_LE(slab - each.slots * each.slot_bytes, slab / 32) << each.slot_bytes;
    }
}

TEST(heap_classes, aligned_requests_get_slots_that_are_multiples_of_the_alignment) {
    for (std::size_t alignment = 32; alignment <= 2 * heap_classes::unit_bytes; alignment *= 2) {
        for (std::size_t bytes = 0; bytes <= heap_classes::largest; bytes += 13) {
            const std::size_t found = heap_classes::class_of_aligned(bytes, alignment);
            if (found == 0) {
                ASSERT_TRUE(alignment > heap_classes::unit_bytes || bytes > heap_classes::largest - alignment);
                continue;
            }
            ASSERT_GE(heap_classes::bytes(found), bytes);
            ASSERT_EQ(heap_classes::bytes(found) % alignment, 0u);
        }
    }
    EXPECT_EQ(heap_classes::class_of_aligned(heap_classes::largest + 1, 64), 0u);
}

}  // namespace
