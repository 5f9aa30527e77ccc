// One verb, one meaning: the table "Everything at once" of docs/resources.md, row by row.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <concepts>
#include <cstddef>

namespace {

template <class R>
concept resets = requires(R& r) { r.reset(); };
template <class R>
concept releases = requires(R& r) { r.release(); };
template <class R>
concept releases_by_reset = requires(R& r) { r.reset(acre::release); };
template <class R>
concept releases_unused = requires(R& r) {
    { r.release_unused() } -> std::same_as<std::size_t>;
};
template <class R>
concept deallocates_all = requires(R& r) { r.deallocate_all(); };
template <class R>
concept reports_live = requires(typename R::options_type& options) { options.report_live = true; };

template <class R, bool Resets, bool Releases, bool ReleasesUnused, bool DeallocatesAll, bool ReportsLive>
constexpr bool has_exactly = resets<R> == Resets && releases<R> == Releases && releases_unused<R> == ReleasesUnused &&
                             deallocates_all<R> == DeallocatesAll && reports_live<R> == ReportsLive;

struct counted {
    counted() { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    static inline int alive = 0;
    int value = 1;
};

using lone = acre::typed_arena<counted, 10>;
using chunks = acre::chunk_pool<10, 16, 64>;

// The columns: reset, release, release_unused, deallocate_all, the option report_live.
// clang-format off
static_assert(has_exactly<acre::arena,                     true,  false,  false,  false,  false>);
static_assert(has_exactly<acre::inline_arena<64>,          true,  false,  false,  false,  false>);
static_assert(has_exactly<acre::concurrent_arena,          true,  false,  false,  false,  false>);
static_assert(has_exactly<acre::multi_arena,               true,  false,  false,  false,  true>);
static_assert(has_exactly<acre::concurrent_multi_arena,    true,  false,  false,  false,  true>);
static_assert(has_exactly<acre::inline_multi_arena<2, 64>, true, false,  false,  false,  false>);
static_assert(has_exactly<acre::inline_concurrent_multi_arena<2, 64>, true, false, false, false, false>);
static_assert(has_exactly<acre::realtime_heap,             true,  false,  false,  false,  true>);
static_assert(has_exactly<lone,                            true,  false,  false,  true,   false>);
static_assert(has_exactly<chunks,                          false, false,  false,  true,   true>);
static_assert(has_exactly<acre::pool<64>,                  true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::multi_pool,                true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::object_pool<int>,          true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::concurrent_pool<64>,       true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::concurrent_multi_pool,     true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::concurrent_object_pool<int>, true, true,  true,   false,  true>);
static_assert(has_exactly<acre::wait_free_pool<64>,        true,  false,  false,  false,  true>);
static_assert(has_exactly<acre::wait_free_object_pool<int>, true, false,  false,  false,  true>);
static_assert(has_exactly<acre::hardened_pool<64>,         true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::hardened_object_pool<int>, true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::hardened_multi_pool,       true,  true,   true,   false,  true>);
static_assert(has_exactly<acre::virtual_memory,            true,  true,   true,   false,  false>);
static_assert(has_exactly<acre::static_pool<64>,           false, false,  true,   false,  false>);
static_assert(has_exactly<acre::inline_buffer<64>,         true,  false,  false,  false,  false>);
static_assert(has_exactly<acre::buffer,                    true,  false,  false,  false,  false>);
static_assert(has_exactly<acre::heap,                      false, false,  false,  false,  false>);
static_assert(has_exactly<acre::no_memory,                 false, false,  false,  false,  false>);
static_assert(has_exactly<acre::pmr_upstream,              false, false,  false,  false,  false>);
static_assert(has_exactly<acre::resource_ref,              false, false,  false,  false,  false>);
static_assert(has_exactly<acre::scratch,                   false, false,  false,  false,  false>);
static_assert(has_exactly<acre::unsynchronized_pool_resource, false, true, false, false,  false>);
static_assert(has_exactly<acre::synchronized_pool_resource, false, true, false,   false,  false>);
// clang-format on
static_assert(releases_by_reset<acre::arena> && releases_by_reset<acre::concurrent_arena>);
static_assert(acre::typed_arena_options{.report_live = true}.report_live, "an option of the type, not of the object");

// Wrappers keep the verbs of what they wrap.
static_assert(has_exactly<acre::synchronized<chunks>, false, false, false, true, true>);
static_assert(has_exactly<acre::synchronized<acre::object_pool<int>>, true, true, true, false, true>);
static_assert(deallocates_all<acre::statistics<chunks>> && !resets<acre::statistics<chunks>>);
static_assert(resets<acre::recycling<acre::arena>> && releases_by_reset<acre::recycling<acre::arena>>);
using two_pools = acre::fallback<acre::pool<8>, acre::multi_pool>;
static_assert(has_exactly<two_pools, true, true, false, false, false>);
static_assert(has_exactly<acre::segregate<8, acre::pool<8>, acre::multi_pool>, true, true, false, false, false>);
using falling_back =
    acre::typed_arena<counted, 10, acre::typed_arena_options{.when_full = acre::exhaustion::fall_back}>;
static_assert(!deallocates_all<falling_back> && !resets<falling_back>);

// reset() destroys what create() made and keeps the memory; release() gives it back, too.
template <class R>
void expect_object_pool_destroys(R& tested) {
    for (int i = 0; i < 3; ++i) tested.create();
    EXPECT_EQ(counted::alive, 3);
    tested.reset();
    EXPECT_EQ(counted::alive, 0);
    EXPECT_GT(tested.capacity(), 0u);
    if constexpr (releases<R>) {
        tested.create();
        counted* kept = tested.create();
        const std::size_t held = tested.capacity();
        tested.release_unused();
        EXPECT_LE(tested.capacity(), held);
        EXPECT_EQ(counted::alive, 2);
        EXPECT_EQ(kept->value, 1);
        tested.release();
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(tested.capacity(), 0u);
    }
    tested.create();
}

TEST(verbs, reset_and_release_destroy_what_create_made) {
    {
        acre::arena tested;
        for (int i = 0; i < 3; ++i) tested.create<counted>();
        tested.reset();
        EXPECT_EQ(counted::alive, 0);
        EXPECT_GT(tested.capacity(), 0u);
        tested.create<counted>();
        tested.reset(acre::release);
        EXPECT_EQ(counted::alive, 0);
        EXPECT_EQ(tested.capacity(), 0u);
        tested.create<counted>();
        {
            acre::scratch inner{tested};
            inner.create<counted>();
            EXPECT_EQ(counted::alive, 2);
        }
        EXPECT_EQ(counted::alive, 1);
    }
    EXPECT_EQ(counted::alive, 0) << "the end destroys, too";
    {
        acre::object_pool<counted> tested;
        expect_object_pool_destroys(tested);
    }
    {
        acre::concurrent_object_pool<counted> tested;
        expect_object_pool_destroys(tested);
    }
    {
        acre::wait_free_object_pool<counted> tested{{.slots = 10}};
        expect_object_pool_destroys(tested);
    }
    {
        acre::synchronized<acre::object_pool<counted>> tested;
        expect_object_pool_destroys(tested);
    }
    EXPECT_EQ(counted::alive, 0) << "the end destroys, too";
}

// deallocate_all() and the end of these two destroy nothing: the pool and the arena do not know their objects.
TEST(verbs, deallocate_all_destroys_nothing) {
    lone arena;
    counted* one = arena.create();
    arena.destroy(one);
    arena.create();
    arena.deallocate_all();
    EXPECT_EQ(arena.used(), 0u);
    EXPECT_EQ(counted::alive, 1);
    {
        chunks pool;
        pool.create<counted>();
        pool.deallocate_all();
        EXPECT_EQ(pool.live(), 0u);
        pool.create<counted>();
    }
    EXPECT_EQ(counted::alive, 3);
    counted::alive = 0;
}

TEST(verbs, live_allocations_are_reported) {
    testing::internal::CaptureStderr();
    {
        acre::multi_arena frames{{.arenas = 4, .bytes = 256, .report_live = true}};
        acre::concurrent_multi_arena shared{{.arenas = 4, .bytes = 256, .report_live = true}};
        (void)frames.allocate(10);
        (void)shared.allocate(10);
        (void)shared.allocate(10);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "acre::concurrent_multi_arena: 2 still live when it ended\n"
              "acre::multi_arena: 1 still live when it ended\n");
}

}  // namespace
