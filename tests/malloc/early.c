// Resolvers of indirect functions that allocate. The dynamic linker calls them while it binds a program at its start:
// for the user library before it has put the malloc library's own addresses in place (in that case malloc comes from a
// library, or an executable, that is in front of it), for the program before the memory of threads is set up. Y32.
//
// Three parts: a library with the functions (PART=1), one that uses one (PART=2), the program.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_kept = 40 };

#if PART == 1

static char* kept[max_kept];
static int kept_count;

// Functions: the program would get copies of the variables, made before they are set.
int kept_blocks(char*** first);
int kept_blocks(char*** first) {
    *first = kept;
    return kept_count;
}

static int answer(void) {
    return 42;
}

static int is_zero(const char* p, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        if (p[i] != 0) return 0;
    }
    return 1;
}

static void keep(char* p) {
    if (p == NULL || kept_count == max_kept) abort();
    strcpy(p, "kept");
    kept[kept_count++] = p;
}

static int (*resolve(void))(void) {
    // What is given back at once is used again.
    for (size_t i = 1; i <= 1000; ++i) {
        char* p = malloc(i * 10);
        if (p == NULL) abort();
        memset(p, 1, i * 10);
        free(p);
    }
    free(NULL);
    keep(malloc(100));
    keep(malloc(5000));
    char* zero = calloc(100, 30);
    if (zero == NULL || !is_zero(zero, 3000)) abort();
    keep(zero);
    char* grown = realloc(NULL, 10);
    if (grown == NULL) abort();
    memset(grown, 2, 10);
    keep(malloc(1));
    grown = realloc(grown, 2000);
    if (grown == NULL || grown[9] != 2 || malloc_usable_size(grown) < 2000) abort();
    keep(grown);
    keep(realloc(realloc(NULL, 300), 200));
    void* aligned = NULL;
    if (posix_memalign(&aligned, 512, 100) != 0 || (uintptr_t)aligned % 512 != 0) abort();
    keep(aligned);
    aligned = aligned_alloc(4096, 100);
    if (aligned == NULL || (uintptr_t)aligned % 4096 != 0) abort();
    keep(aligned);
    return answer;
}

int of_library(void) __attribute__((ifunc("resolve")));
int of_program(void) __attribute__((ifunc("resolve")));

#else

int of_library(void);
int of_program(void);

#if PART == 2

int uses_library(void);
int uses_library(void) {
    return of_library();
}

#else

int kept_blocks(char*** first);
int uses_library(void);

int main(void) {
    void* between = malloc(100);
    if (of_program() != 42 || uses_library() != 42) return 1;
    char** kept = NULL;
    const int kept_count = kept_blocks(&kept);
    if (kept_count != 16) return 4;
    for (int i = 0; i < kept_count; ++i) {
        if (strcmp(kept[i], "kept") != 0) return 2;
        if (i % 3 == 0) {
            const size_t before = malloc_usable_size(kept[i]);
            kept[i][before - 1] = 3;
            kept[i] = realloc(kept[i], 100000);
            if (kept[i] == NULL || strcmp(kept[i], "kept") != 0 || kept[i][before - 1] != 3) return 3;
        }
        free(kept[i]);
    }
    free(between);
    printf("%d blocks\n", kept_count);
    return 0;
}

#endif
#endif
