// The mallocs that acre knows how to preload, by name, with the names of their libraries.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace acre::tool {

struct known_malloc {
    std::string_view name;
    std::string_view description;
    std::span<const std::string_view> libraries;  // the first one installed is preloaded
};

namespace malloc_libraries {
inline constexpr std::array<std::string_view, 3> mimalloc{"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so"};
inline constexpr std::array<std::string_view, 2> jemalloc{"libjemalloc.so.2", "libjemalloc.so"};
// The one without the profiler first: it is the same malloc.
inline constexpr std::array<std::string_view, 4> tcmalloc{"libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so",
                                                          "libtcmalloc.so.4", "libtcmalloc.so"};
inline constexpr std::array<std::string_view, 2> tbbmalloc{"libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so"};
inline constexpr std::array<std::string_view, 1> snmalloc{"libsnmallocshim.so"};
}  // namespace malloc_libraries

inline constexpr auto known_mallocs = std::to_array<known_malloc>({
    {"mimalloc", "mimalloc, preloaded", malloc_libraries::mimalloc},
    {"jemalloc", "jemalloc, preloaded", malloc_libraries::jemalloc},
    {"tcmalloc", "tcmalloc of gperftools, preloaded", malloc_libraries::tcmalloc},
    {"tbbmalloc", "the malloc of oneTBB, preloaded", malloc_libraries::tbbmalloc},
    {"snmalloc", "snmalloc, preloaded", malloc_libraries::snmalloc},
});

}  // namespace acre::tool
