// A program that brings its own malloc, and functions that come with it.
#include <stdint.h>
#include <sys/mman.h>

#include "hazard.h"

static char* region;
static size_t used;
static long calls;

void* malloc(size_t bytes) {
    if (region == NULL)
        region = mmap(NULL, 1L << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const size_t at = __atomic_fetch_add(&used, (bytes + 31) / 16 * 16, __ATOMIC_RELAXED);
    *(size_t*)(region + at) = bytes;
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return region + at + 16;
}

void free(void* block) {
    if (block != NULL && ((char*)block < region || (char*)block >= region + used)) _exit(97);
}

void* calloc(size_t n, size_t bytes) {
    return malloc(n * bytes);
}

void* realloc(void* block, size_t bytes) {
    void* other = malloc(bytes);
    if (block != NULL) memcpy(other, block, ((size_t*)block)[-2] < bytes ? ((size_t*)block)[-2] : bytes);
    return other;
}

size_t malloc_usable_size(void* block) {
    return block == NULL ? 0 : ((size_t*)block)[-2];
}

int main(void) {
    churn(1000);
    char* copy = strdup("copied");
    say("%s, %zu bytes, at least 1000 calls: %d\n", copy, malloc_usable_size(copy), calls >= 1000);
    free(copy);
    return 0;
}
