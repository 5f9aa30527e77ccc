// The cost of a pool in a shared library, which by default finds thread-local variables by a function call: the pairs
// of pool_pairs.cpp in the program and in libraries built in several ways.
#include <string>
#include <utility>
#include <vector>

#include "../contestants/contestants.hpp"
#include "../contestants/malloc_library.hpp"
#include "../harness.hpp"
#include "pool_pairs.hpp"

namespace bench {
namespace {

constexpr std::size_t pairs = 10'000;
const std::string in_this_program = "in the program";

/// The functions of pool_pairs.hpp, by the ids of their groups.
struct exported {
    const char* id;
    const char* title;
    const char* name;
    void (*function)(std::size_t);
};

constexpr exported all_exported[]{
    {"library static_pool", "static_pool<64>, a function for each of the two", "acre_static_pool_calls",
     acre_static_pool_calls},
    {"library static_pool, one loop", "static_pool<64>, inlined into one loop", "acre_static_pool_loop",
     acre_static_pool_loop},
    {"library concurrent_pool", "concurrent_pool<64>, a function for each of the two", "acre_concurrent_pool_calls",
     acre_concurrent_pool_calls},
    {"library concurrent_pool, one loop", "concurrent_pool<64>, inlined into one loop", "acre_concurrent_pool_loop",
     acre_concurrent_pool_loop},
};

// Each library is compiled with another name for namespace acre, because the loader would merge their variables.
const std::vector<std::pair<std::string, const char*>> libraries{ACRE_BENCH_POOL_LIBRARIES};

}  // namespace

void add_shared_libraries(suite& entries) {
    for (const exported& each : all_exported) {
        const group_description about{.id = each.id,
                                      .title = std::string("in a shared library: ") + each.title,
                                      .operations = pairs,
                                      .compared_with = in_this_program};
        entries.add(about, in_this_program, [&each] { return [work = each.function] { work(pairs); }; });
        for (const auto& [flags, path] : libraries) {
            entries.add(about, "library, " + flags, [&each, file = path] {
                return [work = opened_library(file).get<void(std::size_t)>(each.name)] { work(pairs); };
            });
        }
    }
}

}  // namespace bench
