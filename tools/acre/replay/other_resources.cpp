#include <array>
#include <memory_resource>

#include "arrangement.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t default_tcache_count = 1000;

constexpr auto tcache_parameters = std::to_array<parameter_entry>({
    {"count", "blocks of each size that a thread keeps; default 1000", &resource_parameters::count, 1, 65'535},
});

resource_parameters complete_tcache(const resource_parameters& given, const sequence_view&, unsigned) {
    return {.count = given.count == 0 ? default_tcache_count : given.count, .bytes = 0};
}

constexpr std::array<std::string_view, 2> mimalloc{"libmimalloc.so.2", "libmimalloc.so"};
constexpr std::array<std::string_view, 2> jemalloc{"libjemalloc.so.2", "libjemalloc.so"};
// The one without the profiler first: it is the same malloc.
constexpr std::array<std::string_view, 4> tcmalloc{"libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so",
                                                   "libtcmalloc.so.4", "libtcmalloc.so"};
constexpr std::array<std::string_view, 2> tbb{"libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so"};
constexpr std::array<std::string_view, 1> snmalloc{"libsnmallocshim.so"};

constexpr resource_entry preloaded(std::string_view name, std::string_view description,
                                   std::span<const std::string_view> libraries) {
    return {.name = name,
            .description = description,
            .group = resource_group::preload,
            .threads = thread_rule::any,
            .play = play<plain<system_resource, thread_rule::any>>,
            .start = {.libraries = libraries}};
}

constexpr auto known = std::to_array<resource_entry>({
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
    preloaded("mimalloc", "mimalloc, preloaded", mimalloc),
    preloaded("jemalloc", "jemalloc, preloaded", jemalloc),
    preloaded("tcmalloc", "tcmalloc of gperftools, preloaded", tcmalloc),
    preloaded("tbbmalloc", "the malloc of oneTBB, preloaded", tbb),
    preloaded("snmalloc", "snmalloc, preloaded", snmalloc),
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
    return known;
}

}  // namespace acre::tool
