// malloc's functions over each kind of resource.
#include "check.h"

static void play(acre_resource* memory) {
    unsigned char* p = acre_malloc(memory, 100);
    CHECK(p != NULL && is_aligned(p, 16) && acre_usable_size(memory, p) >= 100);
    memset(p, 7, 100);
    p = acre_realloc(memory, p, 300);
    CHECK(p != NULL && p[99] == 7 && acre_usable_size(memory, p) >= 300);
    p = acre_realloc(memory, p, 10);
    CHECK(p != NULL && p[9] == 7);
    unsigned char* zeros = acre_calloc(memory, 30, 7);
    CHECK(zeros != NULL);
    for (int i = 0; i < 210; ++i) CHECK(zeros[i] == 0);
    void* wide = acre_aligned_alloc(memory, 128, 50);
    CHECK(wide != NULL && is_aligned(wide, 128));
    void* nothing = acre_malloc(memory, 0);
    CHECK(nothing != NULL);
    acre_free(memory, nothing);
    acre_free(memory, wide);
    acre_free(memory, p);
    CHECK(acre_realloc(memory, zeros, 0) == NULL);
    acre_free(memory, NULL);
    CHECK(acre_usable_size(memory, NULL) == 0);
    CHECK(acre_last_status() == ACRE_OK);
}

#ifndef _WIN32
static void the_general_heap_serves_without_a_handle(void) {
    play(acre_general_heap());
    unsigned char* p = acre_general_heap_malloc(100);
    CHECK(p != NULL && is_aligned(p, 16) && acre_general_heap_usable_size(p) >= 100);
    memset(p, 7, 100);
    p = acre_general_heap_realloc(p, 2 << 20);
    CHECK(p != NULL && p[99] == 7 && acre_general_heap_owns(p));
    p[(2 << 20) - 1] = 8;
    p = acre_general_heap_realloc(p, 5 << 20);
    CHECK(p != NULL && p[99] == 7 && p[(2 << 20) - 1] == 8);
    p = acre_general_heap_realloc(p, 10);
    CHECK(p != NULL && p[9] == 7 && acre_general_heap_usable_size(p) >= 10);
    unsigned char* zeros = acre_general_heap_calloc(30, 7);
    CHECK(zeros != NULL);
    for (int i = 0; i < 210; ++i) CHECK(zeros[i] == 0);
    void* wide = acre_general_heap_aligned_alloc(128, 50);
    CHECK(wide != NULL && is_aligned(wide, 128));
    void* nothing = acre_general_heap_malloc(0);
    CHECK(nothing != NULL && acre_general_heap_owns(nothing));
    void* of_malloc = malloc(100);
    CHECK(of_malloc != NULL && !acre_general_heap_owns(of_malloc) && !acre_general_heap_owns(NULL));
    free(of_malloc);
    acre_general_heap_free(nothing);
    acre_general_heap_free(wide);
    acre_general_heap_free(p);
    CHECK(acre_general_heap_realloc(zeros, 0) == NULL);
    acre_general_heap_free(NULL);
    CHECK(acre_general_heap_usable_size(NULL) == 0);
    CHECK(acre_last_status() == ACRE_OK);
    CHECK(acre_general_heap_malloc(SIZE_MAX) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_general_heap_calloc(SIZE_MAX / 2, 4) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_general_heap_aligned_alloc(24, 8) == NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    // A pool in it, whose blocks any thread may free.
    acre_pool* pool = acre_pool_create(64, &(acre_pool_options){.upstream = acre_general_heap()});
    void* slot = acre_pool_allocate(pool);
    CHECK(slot != NULL && acre_general_heap_owns(slot));
    acre_pool_free(pool, slot);
    acre_pool_destroy(pool);
    acre_general_heap_release_unused(0);
}
#endif

static void requests_that_cannot_be_served_say_why(void) {
    acre_multi_pool* pool = acre_multi_pool_create(&(acre_pool_options){.limit_bytes = 1 << 16});
    acre_resource* memory = acre_multi_pool_resource(pool);
    CHECK(acre_malloc(memory, 1 << 20) == NULL);
    CHECK(strstr(acre_last_error(), "acre::multi_pool: limit exceeded") != NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    CHECK(acre_malloc(memory, SIZE_MAX) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_calloc(memory, SIZE_MAX / 2, 4) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_aligned_alloc(memory, 24, 8) == NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    char* p = acre_malloc(memory, 10);
    p[9] = 'x';
    CHECK(acre_realloc(memory, p, 1 << 20) == NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    CHECK(p[9] == 'x');
    CHECK(acre_try_realloc(memory, p, 1 << 20) == NULL);
    CHECK_ERROR(ACRE_REFUSED);
    p = acre_try_realloc(memory, p, 20);
    CHECK(p != NULL && p[9] == 'x');
    CHECK(acre_try_realloc(memory, p, 0) == NULL);
    CHECK(acre_last_status() == ACRE_OK);
    // Looking for the reason is no request that a resource counts.
    acre_statistics* counting = acre_statistics_create(memory, NULL);
    CHECK(acre_calloc(acre_statistics_resource(counting), 1 << 10, 1 << 10) == NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    CHECK(acre_statistics_counts(counting).failures == 1);
    acre_statistics_destroy(counting);
    acre_multi_pool_destroy(pool);
    acre_multi_arena* arenas = acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 1, .bytes = 64});
    CHECK(acre_malloc(acre_multi_arena_resource(arenas), 40) != NULL);
    CHECK(acre_malloc(acre_multi_arena_resource(arenas), 40) == NULL);
    CHECK_ERROR(ACRE_OUT_OF_ARENAS);
    CHECK(acre_malloc(acre_multi_arena_resource(arenas), 60) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_try_malloc(acre_multi_arena_resource(arenas), 60) == NULL);
    CHECK_ERROR(ACRE_REFUSED);
    CHECK(acre_try_malloc(NULL, 60) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    acre_multi_arena_reset(arenas);
    acre_multi_arena_destroy(arenas);
}

void test_malloc(void) {
#ifndef _WIN32
    the_general_heap_serves_without_a_handle();
#endif
    play(acre_heap());
    acre_arena* arena = acre_arena_create(NULL);
    play(acre_arena_resource(arena));
    acre_arena_destroy(arena);
    acre_concurrent_arena* shared_arena = acre_concurrent_arena_create(NULL);
    play(acre_concurrent_arena_resource(shared_arena));
    acre_concurrent_arena_destroy(shared_arena);
    acre_pool* pool = acre_pool_create(64, NULL);
    play(acre_pool_resource(pool));
    acre_pool_destroy(pool);
    acre_concurrent_pool* shared_pool = acre_concurrent_pool_create(64, NULL);
    play(acre_concurrent_pool_resource(shared_pool));
    acre_concurrent_pool_destroy(shared_pool);
    acre_multi_pool* multi_pool = acre_multi_pool_create(NULL);
    play(acre_multi_pool_resource(multi_pool));
    acre_multi_pool_destroy(multi_pool);
    acre_concurrent_multi_pool* shared_multi_pool = acre_concurrent_multi_pool_create(NULL);
    play(acre_concurrent_multi_pool_resource(shared_multi_pool));
    acre_concurrent_multi_pool_destroy(shared_multi_pool);
    const acre_multi_arena_options options = {.arenas = 8, .bytes = 4096};
    acre_multi_arena* arenas = acre_multi_arena_create(&options);
    play(acre_multi_arena_resource(arenas));
    CHECK(acre_multi_arena_busy(arenas) == 0);
    acre_multi_arena_destroy(arenas);
    acre_concurrent_multi_arena* shared_arenas = acre_concurrent_multi_arena_create(&options);
    play(acre_concurrent_multi_arena_resource(shared_arenas));
    CHECK(acre_concurrent_multi_arena_busy(shared_arenas) == 0);
    acre_concurrent_multi_arena_destroy(shared_arenas);
    acre_statistics* statistics =
        acre_statistics_create(acre_heap(), &(acre_statistics_options){.for_threads = true, .live_map = true});
    play(acre_statistics_resource(statistics));
    CHECK(acre_statistics_counts(statistics).allocations.value == 0);
    acre_statistics_destroy(statistics);
    requests_that_cannot_be_served_say_why();
}
