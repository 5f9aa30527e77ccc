// Calls of allocation functions at the edges of what they are defined for. Prints what each gave.
// Usage: memory HOW
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

#include "hazard.h"

static volatile size_t huge = SIZE_MAX;

static void edges(void) {
    errno = 0;
    say("malloc(SIZE_MAX) %d", malloc(huge) != NULL);
    say(" errno %d\n", errno);
    errno = 0;
    say("malloc(SIZE_MAX / 2 + 1) %d", malloc(huge / 2 + 1) != NULL);
    say(" errno %d\n", errno);
    errno = 0;
    say("calloc overflow %d", calloc(huge / 2, 3) != NULL);
    say(" errno %d\n", errno);
    void* block = malloc(10);
    errno = 0;
    say("reallocarray overflow %d", reallocarray(block, huge / 2, 3) != NULL);
    say(" errno %d\n", errno);
    errno = 0;
    say("realloc too large %d", realloc(block, huge / 2) != NULL);
    say(" errno %d\n", errno);
    say("realloc(p, 0) %d\n", realloc(block, 0) != NULL);
    block = malloc(0);
    say("malloc(0) %d\n", block != NULL);
    free(block);
    block = realloc(NULL, 0);
    say("realloc(NULL, 0) %d\n", block != NULL);
    free(block);
    block = calloc(0, 0);
    say("calloc(0, 0) %d\n", block != NULL);
    free(block);
    free(NULL);
}

static void alignments(void) {
    const size_t all[] = {0, 1, 2, 3, 7, 8, 16, 24, 48, 64, 4096, 1 << 16, 1 << 20, SIZE_MAX / 2 + 1, SIZE_MAX};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i) {
        void* block = (void*)1;
        errno = 0;
        const int result = posix_memalign(&block, all[i], 100);
        say("posix_memalign %zu: %d, errno %d\n", all[i], result, errno);
        if (result == 0) {
            must((uintptr_t)block % all[i] == 0, "alignment");
            free(block);
        } else {
            must(block == (void*)1, "posix_memalign changed its result");
        }
        errno = 0;
        block = memalign(all[i], 100);
        say("memalign %d errno %d\n", block != NULL, errno);
        free(block);
        errno = 0;
        block = aligned_alloc(all[i], 100);
        say("aligned_alloc %d errno %d\n", block != NULL, errno);
        free(block);
    }
    free(valloc(100));
    free(pvalloc(100));
}

static void errno_kept(void) {
    for (int i = 0; i < 100000; ++i) {
        errno = 1234;
        void* block = malloc(i % 1000);
        must(errno == 1234, "malloc changed errno");
        free(block);
        must(errno == 1234, "free changed errno");
        if (i % 1000 == 0) {
            block = malloc(1 << 22);
            free(block);
            must(errno == 1234, "a large free changed errno");
        }
    }
    errno = 1234;
    free(NULL);
    must(errno == 1234, "free(NULL) changed errno");
}

static void sparse(void) {
    char* large = malloc(12UL << 30);
    must(large != NULL, "12 GiB");
    large[0] = 1;
    churn(1000);
    free(large);
    for (int i = 0; i < 1000; ++i) {
        large = malloc(1UL << 30);
        must(large != NULL, "1 GiB");
        large[0] = 1;
        free(large);
    }
}

static void tuned(void) {
    mallopt(M_MMAP_THRESHOLD, 1000);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_PERTURB, 55);
    churn(1000);
    unsigned char* block = malloc(100);
    say("perturbed: %d, usable %d\n", block[50] == (unsigned char)~55, malloc_usable_size(block) >= 100);
    say("trim %d, mallinfo2 %d\n", malloc_trim(0) >= 0, mallinfo2().arena > 0);
    free(block);
    FILE* nowhere = fopen("/dev/null", "w");
    say("malloc_info %d\n", malloc_info(0, nowhere));
    fclose(nowhere);
}

static void breaks(void) {
    for (int i = 0; i < 1000; ++i) {
        must(sbrk(4096) != (void*)-1, "sbrk");
        churn(10);
    }
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    churn(100);
    if (is(how, "edges")) edges();
    if (is(how, "alignments")) alignments();
    if (is(how, "errno")) errno_kept();
    if (is(how, "sparse")) sparse();
    if (is(how, "tuned")) tuned();
    if (is(how, "sbrk")) breaks();
    if (is(how, "keeps"))
        for (int i = 0; i < 100000; ++i)
            if (malloc(10) == NULL) return 1;
    say("%s\n", how);
    return 0;
}
