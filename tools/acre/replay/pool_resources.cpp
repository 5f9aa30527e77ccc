#include <acre/adapt/pool_resource.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <array>

#include "arrangement.hpp"
#include "resource_families.hpp"

namespace acre::tool {

namespace {

struct segregate_over {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = thread_rule::one;
    segregate_over(metered_upstream& upstream, const resource_parameters&) : resource{upstream, upstream} {}
    acre::segregate<512, acre::multi_pool, metered_upstream&> resource;
};

constexpr auto known = std::to_array<resource_entry>({
    {.name = "multi_pool",
     .description = "acre::multi_pool",
     .play = play<over_upstream<acre::multi_pool, thread_rule::one>>},
    {.name = "concurrent_multi_pool",
     .description = "acre::concurrent_multi_pool",
     .threads = thread_rule::any,
     .play = play<over_upstream<acre::concurrent_multi_pool, thread_rule::any>>},
    {.name = "synchronized_multi_pool",
     .description = "acre::synchronized<acre::multi_pool>",
     .threads = thread_rule::any,
     .play = play<over_upstream<acre::synchronized<acre::multi_pool>, thread_rule::any>>},
    {.name = "pool_resource",
     .description = "acre::unsynchronized_pool_resource, a std::pmr::memory_resource",
     .play = play<standard<acre::unsynchronized_pool_resource, thread_rule::one>>},
    {.name = "synchronized_pool_resource",
     .description = "acre::synchronized_pool_resource, a std::pmr::memory_resource",
     .threads = thread_rule::any,
     .play = play<standard<acre::synchronized_pool_resource, thread_rule::any>>},
    {.name = "segregate",
     .description = "acre::segregate<512, acre::multi_pool, ...>: malloc for what is larger",
     .play = play<segregate_over>},
});

}  // namespace

std::span<const resource_entry> pool_resources() {
    return known;
}

}  // namespace acre::tool
