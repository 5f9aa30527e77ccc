// Calls of the C interface, again and again: bench/c/calls.py counts their instructions.
//
// Usage: calls NAME COUNT
#include <acre.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT(body)                   \
    for (long i = 0; i < count; ++i) { \
        body;                          \
    }

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const char* name = argv[1];
    const long count = atol(argv[2]);
    const acre_multi_arena_options options = {.arenas = 64, .bytes = 65536};
    acre_arena* arena = acre_arena_create(NULL);
    acre_concurrent_arena* shared_arena = acre_concurrent_arena_create(NULL);
    acre_pool* pool = acre_pool_create(64, NULL);
    acre_concurrent_pool* shared_pool = acre_concurrent_pool_create(64, NULL);
    acre_multi_pool* any = acre_multi_pool_create(NULL);
    acre_concurrent_multi_pool* shared_any = acre_concurrent_multi_pool_create(NULL);
    acre_multi_arena* arenas = acre_multi_arena_create(&options);
    acre_concurrent_multi_arena* shared_arenas = acre_concurrent_multi_arena_create(&options);
    acre_resource* memory = acre_multi_pool_resource(any);
    void* p;
    if (strcmp(name, "nothing") == 0) {
        REPEAT(__asm__ volatile(""))
    } else if (strcmp(name, "arena") == 0) {
        REPEAT(acre_arena_allocate(arena, 64, 0))
    } else if (strcmp(name, "concurrent_arena") == 0) {
        REPEAT(acre_concurrent_arena_allocate(shared_arena, 64, 0))
    } else if (strcmp(name, "pool") == 0) {
        REPEAT(p = acre_pool_allocate(pool); acre_pool_free(pool, p))
    } else if (strcmp(name, "concurrent_pool") == 0) {
        REPEAT(p = acre_concurrent_pool_allocate(shared_pool); acre_concurrent_pool_free(shared_pool, p))
    } else if (strcmp(name, "multi_pool") == 0) {
        REPEAT(p = acre_multi_pool_allocate(any, 64, 0); acre_multi_pool_free(any, p, 64, 0))
    } else if (strcmp(name, "concurrent_multi_pool") == 0) {
        REPEAT(p = acre_concurrent_multi_pool_allocate(shared_any, 64, 0);
               acre_concurrent_multi_pool_free(shared_any, p, 64, 0))
    } else if (strcmp(name, "multi_arena") == 0) {
        REPEAT(p = acre_multi_arena_allocate(arenas, 64, 0); acre_multi_arena_free(arenas, p, 64, 0))
    } else if (strcmp(name, "concurrent_multi_arena") == 0) {
        REPEAT(p = acre_concurrent_multi_arena_allocate(shared_arenas, 64, 0);
               acre_concurrent_multi_arena_free(shared_arenas, p, 64, 0))
    } else if (strcmp(name, "acre_malloc") == 0) {
        REPEAT(p = acre_malloc(memory, 64); acre_free(memory, p))
    } else if (strcmp(name, "malloc") == 0) {
        REPEAT(p = malloc(64); __asm__ volatile("" : : "r"(p) : "memory"); free(p))
    } else if (strcmp(name, "refused") == 0) {
        REPEAT(p = acre_arena_allocate(arena, SIZE_MAX, 0))
    } else if (strcmp(name, "refused_malloc") == 0) {
        REPEAT(p = acre_malloc(memory, SIZE_MAX))
    } else {
        return 2;
    }
    return 0;
}
