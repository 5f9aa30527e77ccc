#include <acre/adapt/pool_resource.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <array>

#include "arrangement.hpp"
#include "resource_lists.hpp"

namespace acre::tool {

namespace {

struct segregate_over {
    static constexpr bool takes_from_upstream = true;
    static constexpr thread_rule threads = thread_rule::one;
    segregate_over(metered_upstream& upstream, const resource_parameters&) : resource{upstream, upstream} {}
    acre::segregate<512, acre::multi_pool, metered_upstream&> resource;
};

constexpr std::uint64_t max_chunks = 1'000'000;
constexpr auto chunk_parameters = std::to_array<parameter_entry>({
    {"count", "slots of each size, rounded up to a power of ten; by default the peak number of live objects",
     &resource_parameters::count, 1, max_chunks},
});

acre::chunk_pool_options chunk_options_of(const resource_parameters&) {
    return {.when_full = acre::exhaustion::fall_back, .prefault = false};
}

template <std::size_t Count>
using chunk_over =
    with_options<acre::chunk_pool<Count, 16, 32, 48, 64, 96, 128, 256, 512>, thread_rule::one, chunk_options_of>;

template <std::size_t... Count>
trial_result play_chunks_of(const sequence_view& sequence, const trial_request& request) {
    trial_result result;
    const auto fits = [&]<std::size_t Each>() {
        if (request.parameters.count > Each) return false;
        result = play<chunk_over<Each>>(sequence, request);
        return true;
    };
    (void)(fits.template operator()<Count>() || ...);
    return result;
}

constexpr auto play_chunks = play_chunks_of<1'000, 10'000, 100'000, max_chunks>;

resource_parameters complete_chunks(const resource_parameters& given, const sequence_view& sequence, unsigned) {
    const std::uint64_t wanted = given.count == 0 ? sequence.slots : given.count;
    std::uint64_t count = 1'000;
    while (count < wanted && count < max_chunks) count *= 10;
    return {.count = count, .bytes = 0};
}

constexpr auto pool_entries = std::to_array<resource_entry>({
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
    {.name = "general_heap",
     .description = "acre::general_heap",
     .threads = thread_rule::any,
     .play = play<plain<acre::general_heap, thread_rule::any>>},
    {.name = "pool_resource",
     .description = "acre::unsynchronized_pool_resource, a std::pmr::memory_resource",
     .play = play<standard<acre::unsynchronized_pool_resource, thread_rule::one>>},
    {.name = "synchronized_pool_resource",
     .description = "acre::synchronized_pool_resource, a std::pmr::memory_resource",
     .threads = thread_rule::any,
     .play = play<standard<acre::synchronized_pool_resource, thread_rule::any>>},
    {.name = "segregate",
     .description = "acre::segregate<512, acre::multi_pool, ...>: malloc above 512 bytes",
     .play = play<segregate_over>},
    {.name = "chunk_pool",
     .description = "acre::chunk_pool of slots of 16 to 512 bytes; malloc when no slot is free",
     .parameters = chunk_parameters,
     .play = play_chunks,
     .complete = complete_chunks},
});

}  // namespace

std::span<const resource_entry> pool_resources() {
    return pool_entries;
}

}  // namespace acre::tool
