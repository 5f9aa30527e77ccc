// What the wrappers that count refuse at compile time. CMakeLists.txt lists the cases; each is compiled with
// ACRE_TEST_CASE set to its number. Case 0 is the rest of the file, which compiles.
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/logged.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/observe/traced.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>

// What the sentence says to do.
acre::synchronized<acre::statistics<acre::multi_pool>> counted_under_a_lock;
acre::synchronized<acre::statistics<acre::heap>> counted_upstream;
acre::concurrent_pool<64> over_it{counted_upstream};
// A trace has no counters.
acre::traced<acre::concurrent_multi_pool> traced_for_threads;
struct group;
acre::statistics<acre::static_pool<64, group>> of_one_thread;
acre::statistics<acre::fallback<acre::pool<64>, acre::heap>> of_two_parts;

struct monster {
    virtual ~monster() = default;
    int strength = 1;
};
struct orc final : monster {
    int axes[5] = {};
};

// An object that is counted is freed as what it was created as.
void objects_of_chunks() {
    acre::limited<acre::chunk_pool<4, 64>> bounded{{.limit_bytes = 1000}};
    bounded.destroy(bounded.create<orc>());
    bounded.destroy(bounded.create<int>());
    // A pool of one class knows the bytes, and a trace asks for none.
    acre::statistics<acre::object_pool<monster>> monsters;
    monsters.destroy(monsters.create());
    acre::traced<acre::chunk_pool<4, 64>> traced;
    monster* some = traced.create<orc>();
    traced.destroy(some);
    traced.deallocate_unsized(traced.allocate(8));
}

#if ACRE_TEST_CASE == 10
void bases_over_a_limit(acre::limited<acre::chunk_pool<4, 64>>& chunks, monster* some) {
    chunks.destroy(some);
}
#elif ACRE_TEST_CASE == 11
void bases_behind_wrappers(acre::synchronized<acre::traced<acre::statistics<acre::chunk_pool<4, 64>>>>& chunks,
                           monster* some) {
    chunks.destroy(some);
}
#elif ACRE_TEST_CASE == 12
void frees_without_a_size(acre::limited<acre::chunk_pool<4, 64>>& chunks, void* some) {
    chunks.deallocate_unsized(some);
}
#elif ACRE_TEST_CASE == 1
acre::statistics<acre::concurrent_pool<64>> counted;
#elif ACRE_TEST_CASE == 2
acre::statistics<acre::concurrent_object_pool<int>> counted;
#elif ACRE_TEST_CASE == 3
acre::statistics<acre::concurrent_multi_pool> counted;
#elif ACRE_TEST_CASE == 4
acre::statistics<acre::inline_concurrent_multi_arena<4, 1024>> counted;
#elif ACRE_TEST_CASE == 5
acre::statistics<acre::wait_free_object_pool<int>> counted{{.slots = 10}};
#elif ACRE_TEST_CASE == 6
acre::statistics<acre::static_pool<64>> counted;
#elif ACRE_TEST_CASE == 7
acre::limited<acre::traced<acre::concurrent_multi_pool>> counted{{.limit_bytes = 1000}};
#elif ACRE_TEST_CASE == 9
acre::statistics<acre::fallback<acre::concurrent_pool<64>, acre::heap>> counted;
#elif ACRE_TEST_CASE == 8
acre::statistics<acre::synchronized<acre::multi_pool>> counted;
#endif
