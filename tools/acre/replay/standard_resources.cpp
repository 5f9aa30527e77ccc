#include <array>
#include <memory_resource>

#include "arrangement.hpp"
#include "resource_families.hpp"

namespace acre::tool {

namespace {

constexpr auto known = std::to_array<resource_entry>({
    {.name = "std_monotonic",
     .description = "std::pmr::monotonic_buffer_resource, frees are ignored",
     .group = resource_group::standard,
     .takes_all_back = true,
     .play = play<standard<std::pmr::monotonic_buffer_resource, thread_rule::one>>},
    {.name = "std_pool",
     .description = "std::pmr::unsynchronized_pool_resource",
     .group = resource_group::standard,
     .play = play<standard<std::pmr::unsynchronized_pool_resource, thread_rule::one, true>>},
    {.name = "std_synchronized_pool",
     .description = "std::pmr::synchronized_pool_resource",
     .group = resource_group::standard,
     .threads = thread_rule::any,
     .play = play<standard<std::pmr::synchronized_pool_resource, thread_rule::any, true>>},
});

}  // namespace

std::span<const resource_entry> standard_resources() {
    return known;
}

}  // namespace acre::tool
