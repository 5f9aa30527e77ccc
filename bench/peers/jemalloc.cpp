// jemalloc in a shared library that exports only these two names.
#include <cstddef>
#include <cstdlib>

extern "C" {

void* acre_peer_jemalloc_allocate(std::size_t bytes) {
    return std::malloc(bytes);
}

void acre_peer_jemalloc_deallocate(void* p) {
    std::free(p);
}
}
