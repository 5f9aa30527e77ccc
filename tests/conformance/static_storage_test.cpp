// Resources at namespace scope: ready before any code of the program runs, so that the static initialisers of other files
// may use them.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

namespace {

struct plain {
    int value = 0;
};

constinit acre::arena arena;
constinit acre::pool<64> slots;
constinit acre::object_pool<plain> objects;
constinit acre::multi_pool sizes;
constinit acre::statistics<acre::multi_pool> counted;

// Used from an initialiser that runs before main.
const bool used_early = [] {
    objects.create();
    return arena.allocate(100) != nullptr && slots.allocate() != nullptr && sizes.allocate(100) != nullptr &&
           counted.allocate(100) != nullptr;
}();

TEST(static_storage, B8_N6_P10_is_ready_before_any_initialiser) {
    EXPECT_TRUE(used_early);
    EXPECT_GE(arena.used(), 100u);
    EXPECT_EQ(slots.live(), 1u);
    EXPECT_EQ(objects.live(), 1u);
    EXPECT_EQ(sizes.live(), 1u);
    EXPECT_EQ(counted.counts().allocations.value, 1u);
}

}  // namespace
