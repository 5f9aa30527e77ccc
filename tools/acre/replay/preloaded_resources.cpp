#include <array>

#include "arrangement.hpp"
#include "resource_families.hpp"
#include "system_resource.hpp"

namespace acre::tool {

namespace {

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

constexpr std::array known{
    preloaded("mimalloc", "mimalloc, preloaded", mimalloc),
    preloaded("jemalloc", "jemalloc, preloaded", jemalloc),
    preloaded("tcmalloc", "tcmalloc of gperftools, preloaded", tcmalloc),
    preloaded("tbbmalloc", "the malloc of oneTBB, preloaded", tbb),
    preloaded("snmalloc", "snmalloc, preloaded", snmalloc),
};

}  // namespace

std::span<const resource_entry> preloaded_resources() {
    return known;
}

}  // namespace acre::tool
