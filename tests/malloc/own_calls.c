// A program that has functions of the C library of its own, each of which allocates, as a library for other clocks
// does. A malloc that calls one of them inside itself calls itself without end, or waits for its own lock. Hazard Y27.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread int depth;
static int calls;

// Half of the blocks stay in use, so that some calls need another slab.
static void allocate(void) {
    static void* kept[1000];
    if (++depth == 1) {
        free(kept[calls % 1000]);
        kept[calls++ % 1000] = malloc(40);
    }
    if (depth > 4) _exit(3);
    --depth;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
    allocate();
    return (int)syscall(SYS_clock_gettime, clock, now);
}
int madvise(void* start, size_t bytes, int advice) {
    allocate();
    return (int)syscall(SYS_madvise, start, bytes, advice);
}
#ifdef SYS_mmap
void* mmap(void* start, size_t bytes, int protection, int flags, int file, off_t offset) {
    allocate();
    return (void*)syscall(SYS_mmap, start, bytes, protection, flags, file, offset);
}
#endif
int mprotect(void* start, size_t bytes, int protection) {
    allocate();
    return (int)syscall(SYS_mprotect, start, bytes, protection);
}
int munmap(void* start, size_t bytes) {
    allocate();
    return (int)syscall(SYS_munmap, start, bytes);
}
void* mremap(void* start, size_t bytes, size_t new_bytes, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* const to = va_arg(rest, void*);
    va_end(rest);
    allocate();
    return (void*)syscall(SYS_mremap, start, bytes, new_bytes, flags, to);
}

int main(void) {
    static void* blocks[300];
    alarm(20);
    struct timespec now = {0, 0};
    for (int round = 0; round < 20; ++round) {
        for (size_t i = 0; i < 300; ++i) {
            const size_t size = i % 3 == 0 ? 200000 : i % 3 == 1 ? 100000 : 3000;
            blocks[i] = memset(malloc(size), 1, size);
            blocks[i] = realloc(blocks[i], size * 20);
        }
        for (int i = 0; i < 300; ++i) free(blocks[i]);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    printf("%d calls\n", calls);
    return calls == 20 ? 0 : 1;
}
