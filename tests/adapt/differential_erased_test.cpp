// The standard's containers through the adapters behind which the resource's type does not show, against the same
// containers over std::allocator: random operations, equal contents after each step. differential.hpp says how.
//
// The containers have one type for all resources: acre::allocator over a resource_ref, or std::pmr's. So many resources
// cost little to compile.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <thread>

#include "adapt/differential.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::differential::containers;
using acre_test::differential::expect_no_difference;
using acre_test::differential::first_difference;

template <class T>
using erased_allocator = acre::allocator<T, acre::resource_ref>;
using erased = containers<erased_allocator>;
using over_pmr = containers<std::pmr::polymorphic_allocator>;

constexpr acre::multi_arena_options arenas{.arenas = 64, .bytes = 64_KiB};

/// Plays over two resources of the type R, both of which `options...` construct.
template <class R, class... Options>
void compare_over(const Options&... options) {
    checking_upstream below;
    R one{options..., below}, other{options..., below};
    acre::resource_ref first{one}, second{other};
    expect_no_difference<erased>(first, second);
}

// ThreadSanitizer has nothing to find where no thread is started.
#ifndef __SANITIZE_THREAD__

TEST(differential_erased, over_arenas) {
    compare_over<acre::arena>();
    compare_over<acre::inline_arena<1000>>();
    compare_over<acre::concurrent_arena>();
    compare_over<acre::multi_arena>(arenas);
    compare_over<acre::concurrent_multi_arena>(acre::concurrent_multi_arena_options{.arenas = 64, .bytes = 64_KiB});
}

TEST(differential_erased, over_pools) {
    compare_over<acre::pool<64>>();
    compare_over<acre::multi_pool>();
    compare_over<acre::concurrent_pool<64>>();
    compare_over<acre::concurrent_multi_pool>();
}

TEST(differential_erased, over_combinations) {
    compare_over<acre::synchronized<acre::multi_pool>>();
    compare_over<acre::statistics<acre::multi_pool>>();
    compare_over<acre::recycling<acre::arena>>();
    compare_over<acre::limited<acre::multi_pool>>(acre::limited_options{.limit_bytes = 4_MiB});
    acre::inline_buffer<1000> near;
    acre::multi_pool far;
    acre::fallback both{near, far};
    acre::segregate<64, acre::pool<64>, acre::multi_pool> by_size;
    acre::resource_ref one{both}, other{by_size};
    expect_no_difference<erased>(one, other);
    EXPECT_EQ(far.live(), 0u);
    EXPECT_EQ(by_size.small().live(), 0u);
    EXPECT_EQ(by_size.large().live(), 0u);
}

TEST(differential_pmr, over_each_memory_resource) {
    checking_upstream below;
    acre::pmr<acre::arena> arena{below};
    acre::pmr<acre::multi_pool> pool{below};
    acre::pmr<acre::pool<64>> slots{below};
    acre::pmr<acre::multi_arena> counted{arenas, below};
    acre::pmr<acre::concurrent_multi_pool> shared_pool{below};
    acre::pmr<acre::synchronized<acre::multi_pool>> locked{below};
    acre::pmr<acre::multi_pool&> referred{*pool};
    acre::unsynchronized_pool_resource standard;
    acre::synchronized_pool_resource standard_shared;
    const std::array<std::pmr::memory_resource*, 9> all{&arena,  &pool,     &slots,    &counted,        &shared_pool,
                                                        &locked, &referred, &standard, &standard_shared};
    for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE("memory resource " + std::to_string(i));
        expect_no_difference<over_pmr>(all[i], all[(i + 1) % all.size()]);
    }
    EXPECT_EQ(pool->live(), 0u);
    EXPECT_EQ(slots->live(), 0u);
    EXPECT_EQ(counted->busy_arenas(), 0u);
    EXPECT_EQ(shared_pool->live(), 0u);
    EXPECT_EQ(standard.pool().live(), 0u);
    EXPECT_EQ(standard_shared.pool().live(), 0u);
}

#endif

// Two threads play over the same two resources, each with containers of its own.
template <class Tested, class Handle>
void compare_in_threads(Handle one, Handle other) {
    std::array<std::string, 2> said;
    {
        std::array<std::thread, 2> threads;
        for (std::size_t i = 0; i < 2; ++i) {
            threads[i] = std::thread([&, i] {
                for (std::uint32_t seed = 100; seed < 103 && said[i].empty(); ++seed)
                    said[i] = first_difference<Tested>(one, other, seed + static_cast<std::uint32_t>(10 * i));
            });
        }
        for (std::thread& each : threads) each.join();
    }
    for (const std::string& each : said) EXPECT_EQ(each, "");
}

TEST(differential_erased, over_resources_that_threads_share) {
    acre::concurrent_multi_pool pool;
    acre::concurrent_multi_arena counted{acre::concurrent_multi_arena_options{.arenas = 128, .bytes = 64_KiB}};
    acre::synchronized<acre::multi_pool> locked;
    acre::concurrent_arena arena;
    compare_in_threads<erased>(acre::resource_ref{pool}, acre::resource_ref{counted});
    compare_in_threads<erased>(acre::resource_ref{locked}, acre::resource_ref{arena});
    acre::synchronized_pool_resource standard;
    acre::pmr<acre::concurrent_multi_pool&> shared{pool};
    compare_in_threads<over_pmr, std::pmr::memory_resource*>(&standard, &shared);
    EXPECT_EQ(pool.live(), 0u);
    EXPECT_EQ(locked.live(), 0u);
}

}  // namespace
