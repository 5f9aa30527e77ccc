// Calls functions of jemalloc's own, of which a library has these. By a weak reference: as a program that looks first
// whether it has jemalloc.
#include <cstddef>
#include <cstdlib>

#ifdef HAS_MALLOCX

extern "C" void* mallocx(std::size_t bytes, int) {
    return std::malloc(bytes);
}

#else

#ifdef IF_ANY
#define ACRE_NEEDED [[gnu::weak]]
#else
#define ACRE_NEEDED
#endif
extern "C" ACRE_NEEDED void* mallocx(std::size_t bytes, int flags);

int main() {
    void* (*volatile request)(std::size_t, int) = &mallocx;
    std::free(request == nullptr ? std::malloc(10) : request(10, 0));
}

#endif
