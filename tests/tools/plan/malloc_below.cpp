// A malloc to preload: the C library's, but its usable sizes are 4321, and memalign forgets the alignment where no
// bytes are asked for, as jemalloc's does.
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* p);

void* malloc(std::size_t bytes) {
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t size) {
    return __libc_calloc(count, size);
}
void* realloc(void* p, std::size_t bytes) {
    return __libc_realloc(p, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    return bytes == 0 ? __libc_malloc(0) : __libc_memalign(alignment, bytes);
}
void free(void* p) {
    __libc_free(p);
}
std::size_t malloc_usable_size(void*) {
    return 4321;
}
}
