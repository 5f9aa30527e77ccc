// General mallocs made for threads: jemalloc, gperftools' tcmalloc and oneTBB's from the distribution, and current
// mimalloc and snmalloc, built from their crates (peers/crates). The distribution's mimalloc has a file of its own,
// because it takes part in more workloads. CMake defines the path of each, empty where it is missing.
#include <string>

#include "contestants.hpp"
#include "malloc_library.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace malloc_library_contestants {

// Linked from its static archive, with renamed functions: dlopen has no room for the thread-local variables of the
// shared library (2,632 bytes of static TLS). Our library is linked and also opened, to find its functions.
struct jemalloc {
    static constexpr const char* path = ACRE_BENCH_JEMALLOC;
    static constexpr const char* allocate_name = "acre_peer_jemalloc_allocate";
    static constexpr const char* deallocate_name = "acre_peer_jemalloc_deallocate";
    static std::string version() { return ACRE_BENCH_JEMALLOC_VERSION; }
};

struct tcmalloc {
    static constexpr const char* path = ACRE_BENCH_TCMALLOC;
    static constexpr const char* allocate_name = "tc_malloc";
    static constexpr const char* deallocate_name = "tc_free";
    static std::string version() { return ACRE_BENCH_TCMALLOC_VERSION; }
};

struct tbbmalloc {
    static constexpr const char* path = ACRE_BENCH_TBBMALLOC;
    static constexpr const char* allocate_name = "scalable_malloc";
    static constexpr const char* deallocate_name = "scalable_free";
    static std::string version() { return ACRE_BENCH_TBBMALLOC_VERSION; }
};

struct mimalloc_of_today {
    static constexpr const char* path = ACRE_BENCH_CRATES;
    static constexpr const char* allocate_name = "acre_peer_mimalloc_allocate";
    static constexpr const char* deallocate_name = "acre_peer_mimalloc_deallocate";
    static std::string version() {
        const int number = opened_malloc<mimalloc_of_today>.library.get<int()>("acre_peer_mimalloc_version")();
        return std::to_string(number) + ", crate libmimalloc-sys " ACRE_BENCH_MIMALLOC_CRATE;
    }
};

struct snmalloc {
    static constexpr const char* path = ACRE_BENCH_CRATES;
    static constexpr const char* allocate_name = "acre_peer_snmalloc_allocate";
    static constexpr const char* deallocate_name = "acre_peer_snmalloc_deallocate";
    static std::string version() { return "crate snmalloc-sys " ACRE_BENCH_SNMALLOC_CRATE; }
};

template <class Library>
void add_library(suite& entries, const std::string& name) {
    if constexpr (*Library::path == '\0') {
        entries.add_peer(name, "");
    } else {
        entries.add_peer(name, Library::version());
        add_malloc_threads<Library>(entries, name);
    }
}

}  // namespace malloc_library_contestants
using namespace malloc_library_contestants;

void add_malloc_libraries(suite& entries) {
    add_library<jemalloc>(entries, "jemalloc");
    add_library<tcmalloc>(entries, "gperftools tcmalloc");
    add_library<tbbmalloc>(entries, "oneTBB scalable_malloc");
    add_library<mimalloc_of_today>(entries, "mimalloc of today");
    add_library<snmalloc>(entries, "snmalloc");
}

}  // namespace bench
