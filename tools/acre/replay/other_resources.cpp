#include <array>
#include <memory_resource>

#include "arrangement.hpp"
#include "programs/known_mallocs.hpp"
#include "resource_lists.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t default_tcache_count = 1000;

constexpr auto tcache_parameters = std::to_array<parameter_entry>({
    {"count", "blocks of each size that a thread keeps; default 1000", &resource_parameters::count, 1, 65'535},
});

resource_parameters complete_tcache(const resource_parameters& given, const sequence_view&, unsigned) {
    return {.count = given.count == 0 ? default_tcache_count : given.count, .bytes = 0};
}

constexpr resource_entry preloaded(const known_malloc& which) {
    return {.name = which.name,
            .description = which.description,
            .group = resource_group::preload,
            .threads = thread_rule::any,
            .play = play<plain<system_resource, thread_rule::any>>,
            .start = {.libraries = which.libraries}};
}

constexpr std::array<std::string_view, 1> acre_library{"libacre-malloc.so"};

constexpr auto other_entries = std::to_array<resource_entry>({
    {.name = "system",
     .description = "the C library's malloc and free, and operator new and delete where the program called them",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .play = play<plain<system_resource, thread_rule::any>>},
    {.name = "loop",
     .description = "no allocator: the cost of the replay itself",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .takes_all_back = true,
     .play = play<plain<no_resource, thread_rule::any>>},
    {.name = "new_delete",
     .description = "operator new and delete",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .play = play<plain<new_delete_resource, thread_rule::any>>},
    {.name = "glibc_tcache",
     .description = "glibc's malloc with larger thread caches (GLIBC_TUNABLES=glibc.malloc.tcache_count=N)",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .parameters = tcache_parameters,
     .play = play<plain<system_resource, thread_rule::any>>,
     .complete = complete_tcache,
     .start = {.libraries = {}, .tunable = "glibc.malloc.tcache_count"}},
    {.name = preloaded_acre,
     .description = "acre's general heap, preloaded as 'acre run' does",
     .group = resource_group::preload,
     .threads = thread_rule::any,
     .play = play<plain<system_resource, thread_rule::any>>,
     .start = {.libraries = acre_library, .tunable = {}, .is_acres = true}},
    preloaded(known_mallocs[0]),
    preloaded(known_mallocs[1]),
    preloaded(known_mallocs[2]),
    preloaded(known_mallocs[3]),
    preloaded(known_mallocs[4]),
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

std::span<const resource_entry> other_resources() {
    return other_entries;
}

}  // namespace acre::tool
