// Resources at namespace scope are constant-initialised, so static initialisers of other files may use them.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <mutex>

namespace {

struct plain {
    int value = 0;
};

constinit acre::arena arena;
constinit acre::pool<64> slots;
constinit acre::object_pool<plain> objects;
constinit acre::multi_pool sizes;
constinit acre::statistics<acre::multi_pool> counted;
// MinGW's std::mutex has no constant initialiser: acre::spin_lock is what static storage takes there.
#if defined(__MINGW32__)
using mutex = acre::spin_lock;
#else
using mutex = std::mutex;
#endif
constinit acre::synchronized<acre::multi_pool, mutex> shared;
constinit acre::synchronized<acre::multi_pool, acre::spin_lock> shared_briefly;
constinit acre::synchronized<acre::statistics<acre::pool<64>, acre::statistics_options{.live_map = true}>, mutex>
    watched;
constinit acre::segregate<64, acre::pool<64>, acre::multi_pool> by_size;

// Used from an initialiser that runs before main.
const bool used_early = [] {
    objects.create();
    return arena.allocate(100) != nullptr && slots.allocate() != nullptr && sizes.allocate(100) != nullptr &&
           counted.allocate(100) != nullptr && shared.allocate(100) != nullptr &&
           shared_briefly.allocate(100) != nullptr && watched.allocate(10) != nullptr &&
           by_size.allocate(10) != nullptr;
}();

// Hazards B8, N6, P10.
TEST(static_storage, is_ready_before_any_initialiser) {
    EXPECT_TRUE(used_early);
    EXPECT_GE(arena.used(), 100u);
    EXPECT_EQ(slots.live(), 1u);
    EXPECT_EQ(objects.live(), 1u);
    EXPECT_EQ(sizes.live(), 1u);
    EXPECT_EQ(counted.counts().allocations.value, 1u);
    EXPECT_EQ(shared.live() + shared_briefly.live(), 2u);
    EXPECT_EQ(watched.live_allocations().size(), 1u);
    EXPECT_EQ(by_size.live(), 1u);
}

}  // namespace
