// The slabs of acre::general_heap: how long they are, and that they go back.
#include <gtest/gtest.h>
#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/heaps/detail/heap_classes.hpp>
#include <acre/heaps/detail/heap_depots.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "own_process.hpp"

namespace {

using acre::detail::heap_class;
using acre::detail::heap_classes;
using acre::detail::heap_depot;

TEST(heap_depots, of_a_class_that_is_used_little_only_little_is_free) {
    acre_test::in_a_process_of_its_own([] {
        acre::detail::locked_range in;
        ASSERT_TRUE(in.range.reserve());
        for (std::size_t number = 1; number < heap_classes::count; ++number) {
            const heap_class& layout = heap_classes::layouts[number];
            heap_depot depot;
            std::vector<void*> taken;
            while (depot.count().units < 6 * layout.units) {
                void* p = nullptr;
                ASSERT_EQ(depot.take(in, {number, number}, &p, 1), 1U);
                taken.push_back(p);
                const heap_depot::figures now = depot.count();
                ASSERT_EQ(now.handed_out, taken.size());
                // What the newest slab may have: a quarter of the class, or of the first slab the rest.
                const std::size_t units = std::max<std::size_t>(now.units / 4, layout.first_units);
                ASSERT_LT(now.slots - now.handed_out, heap_classes::slots_in(units, layout.slot_bytes))
                    << layout.slot_bytes << " bytes, the slot number " << taken.size();
            }
            depot.give(in, number, taken.data(), taken.size());
            depot.trim(in);
            EXPECT_EQ(depot.count().units, 0U);
            EXPECT_EQ(depot.count().slots, 0U);
        }
        EXPECT_EQ(in.range.bytes_in_use(), 0U);
    });
}

TEST(heap_depots, slots_of_its_slabs_only_where_it_may_not_add_one) {
    acre_test::in_a_process_of_its_own([] {
        acre::detail::locked_range in;
        ASSERT_TRUE(in.range.reserve());
        const std::size_t number = heap_classes::class_of(64);
        heap_depot depot;
        constexpr std::size_t most = 600;
        void* taken[most];
        EXPECT_EQ(depot.take(in, {number, number}, taken, most, false), 0U);
        EXPECT_EQ(depot.take(in, {number, number}, taken, 1), 1U);
        const std::size_t slots = depot.count().slots;
        ASSERT_LT(slots, most);
        EXPECT_EQ(depot.take(in, {number, number}, taken + 1, most - 1, false), slots - 1);
        EXPECT_EQ(depot.count().slots, slots);
        depot.give(in, number, taken, slots);
        depot.trim(in);
        EXPECT_EQ(depot.count().units, 0U);
    });
}

}  // namespace

#endif
