#include <array>

#include "arrangement.hpp"
#include "resource_families.hpp"
#include "system_resource.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t usual_tcache_count = 1000;

constexpr auto tcache_parameters = std::to_array<parameter_entry>({
    {"count", "blocks of each size that a thread keeps; without it 1000", &resource_parameters::count, 1, 65'535},
});

resource_parameters complete_tcache(const resource_parameters& given, const sequence_view&, unsigned) {
    return {.count = given.count == 0 ? usual_tcache_count : given.count, .bytes = 0};
}

constexpr auto known = std::to_array<resource_entry>({
    {.name = "system",
     .description = "the C library's malloc and free, and operator new and delete where the program called them",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .play = play<plain<system_resource, thread_rule::any>>},
    {.name = "loop",
     .description = "no allocator at all: what the replay itself costs",
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
     .description = "glibc's malloc with larger caches of the threads (GLIBC_TUNABLES=glibc.malloc.tcache_count=N)",
     .group = resource_group::system,
     .threads = thread_rule::any,
     .parameters = tcache_parameters,
     .play = play<plain<system_resource, thread_rule::any>>,
     .complete = complete_tcache,
     .start = {.libraries = {}, .tunable = "glibc.malloc.tcache_count"}},
});

}  // namespace

std::span<const resource_entry> system_resources() {
    return known;
}

}  // namespace acre::tool
