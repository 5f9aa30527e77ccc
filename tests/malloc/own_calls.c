// A program that has functions of the C library of its own, each of which allocates, as a library for other clocks
// does. A malloc that calls one of them inside itself calls itself without end, or waits for its own lock. Hazard Y27.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
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

static int key_calls;
static void* kept_of_keys[100];

// What a new thread's first requests wait for must not wait for them.
static void allocate_in_key_call(void) {
    if (++depth == 1) {
        for (int i = 0; i < 100; ++i) kept_of_keys[i] = realloc(kept_of_keys[i], (size_t)(1 + key_calls++) * 10);
    }
    if (depth > 4) _exit(4);
    --depth;
}
int pthread_key_create(pthread_key_t* key, void (*at_end)(void*)) {
    static int (*next)(pthread_key_t*, void (*)(void*));
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_key_create");
    allocate_in_key_call();
    return next(key, at_end);
}
int pthread_setspecific(pthread_key_t key, const void* value) {
    static int (*next)(pthread_key_t, const void*);
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_setspecific");
    allocate_in_key_call();
    return next(key, value);
}

static void* in_a_thread(void* unused) {
    for (size_t i = 1; i < 1000; ++i) free(malloc(i * 40));
    return unused;
}

int main(void) {
    static void* blocks[300];
    alarm(20);
    free(malloc(1));
    pthread_t thread;
    if (pthread_create(&thread, NULL, &in_a_thread, NULL) == 0) pthread_join(thread, NULL);
    if (key_calls == 0) return 2;
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
