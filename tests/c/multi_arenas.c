// acre_multi_arena and acre_concurrent_multi_arena.
#include "check.h"

static void arenas_are_used_again_when_all_in_them_is_freed(void) {
    acre_multi_arena* arenas = acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 4, .bytes = 4096});
    for (int round = 0; round < 100; ++round) {
        void* blocks[4];
        for (int i = 0; i < 4; ++i) CHECK((blocks[i] = acre_multi_arena_allocate(arenas, 4000, 0)) != NULL);
        CHECK(acre_multi_arena_busy(arenas) == 4);
        CHECK(acre_multi_arena_allocate(arenas, 4000, 0) == NULL);
        CHECK_ERROR(ACRE_OUT_OF_ARENAS);
        for (int i = 0; i < 4; ++i) acre_multi_arena_free(arenas, blocks[i], 4000, 0);
    }
    CHECK(acre_multi_arena_busy(arenas) == 0);
    CHECK(acre_multi_arena_allocate(arenas, 100000, 0) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    acre_multi_arena_destroy(arenas);
}

static void a_run_of_arenas_and_a_resize(void) {
    acre_multi_arena* arenas =
        acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 8, .bytes = 1024, .open = 2, .takes_runs = true});
    acre_resource* resource = acre_multi_arena_resource(arenas);
    void* run = acre_multi_arena_allocate(arenas, 3000, 0);
    CHECK(run != NULL && acre_multi_arena_busy(arenas) >= 3);
    void* last = acre_multi_arena_allocate(arenas, 100, 0);
    CHECK(acre_multi_arena_resize(arenas, last, 100, 200));
    CHECK(acre_resource_usage(resource).live == 2);
    acre_multi_arena_reset(arenas);
    CHECK(acre_resource_usage(resource).live == 0);
    acre_multi_arena_destroy(arenas);
}

static void a_concurrent_one_in_one_thread(void) {
    acre_concurrent_multi_arena* arenas =
        acre_concurrent_multi_arena_create(&(acre_multi_arena_options){.arenas = 8, .bytes = 1024});
    void* p = acre_concurrent_multi_arena_allocate(arenas, 100, 0);
    CHECK(p != NULL && acre_concurrent_multi_arena_busy(arenas) == 1);
    CHECK(acre_concurrent_multi_arena_resize(arenas, p, 100, 50));
    CHECK(acre_resource_owns(acre_concurrent_multi_arena_resource(arenas), p));
    acre_concurrent_multi_arena_free(arenas, p, 50, 0);
    CHECK(acre_concurrent_multi_arena_busy(arenas) == 0);
    acre_concurrent_multi_arena_reset(arenas);
    acre_concurrent_multi_arena_destroy(arenas);
}

void test_multi_arenas(void) {
    arenas_are_used_again_when_all_in_them_is_freed();
    a_run_of_arenas_and_a_resize();
    a_concurrent_one_in_one_thread();
}
