// What is for all threads, used by several: one allocates and others free.
#include <pthread.h>

#include "check.h"

enum { threads = 4, rounds = 2000 };

struct shared {
    acre_concurrent_arena* arena;
    acre_concurrent_pool* pool;
    acre_concurrent_multi_pool* any;
    acre_concurrent_multi_arena* arenas;
    acre_resource* counted;
    pthread_mutex_t lock;
    void* handed_over[threads];  // slots of `pool`
};

// Gives `slot` to another thread, and returns what another one gave.
static void* exchange(struct shared* shared, void* slot, int at) {
    pthread_mutex_lock(&shared->lock);
    void* other = shared->handed_over[at];
    shared->handed_over[at] = slot;
    pthread_mutex_unlock(&shared->lock);
    return other;
}

static void* work(void* argument) {
    struct shared* shared = argument;
    for (int i = 0; i < rounds; ++i) {
        int* number = acre_concurrent_arena_allocate(shared->arena, sizeof *number, alignof(int));
        int* slot = acre_concurrent_pool_allocate(shared->pool);
        char* block = acre_concurrent_multi_pool_allocate(shared->any, 100 + (size_t)i % 500, 0);
        char* message = acre_concurrent_multi_arena_allocate(shared->arenas, 200, 0);
        void* counted = acre_malloc(shared->counted, 50);
        CHECK(number != NULL && slot != NULL && block != NULL && message != NULL && counted != NULL);
        *number = i;
        *slot = i;
        block[99] = message[199] = 'x';
        acre_concurrent_pool_free(shared->pool, exchange(shared, slot, i % threads));
        CHECK(*number == i && block[99] == 'x' && message[199] == 'x');
        acre_concurrent_multi_pool_free(shared->any, block, 100 + (size_t)i % 500, 0);
        acre_concurrent_multi_arena_free(shared->arenas, message, 200, 0);
        acre_free(shared->counted, counted);
    }
    return NULL;
}

void test_threads(void) {
    acre_statistics* statistics =
        acre_statistics_create(acre_heap(), &(acre_statistics_options){.for_threads = true, .live_map = true});
    struct shared shared = {
        .arena = acre_concurrent_arena_create(NULL),
        .pool = acre_concurrent_pool_create(sizeof(int), NULL),
        .any = acre_concurrent_multi_pool_create(NULL),
        .arenas = acre_concurrent_multi_arena_create(&(acre_multi_arena_options){.arenas = 64, .bytes = 4096}),
        .counted = acre_statistics_resource(statistics),
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    pthread_t running[threads];
    for (int i = 0; i < threads; ++i) CHECK(pthread_create(&running[i], NULL, work, &shared) == 0);
    for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
    for (int i = 0; i < threads; ++i) acre_concurrent_pool_free(shared.pool, shared.handed_over[i]);
    CHECK(acre_resource_usage(acre_concurrent_pool_resource(shared.pool)).live == 0);
    CHECK(acre_resource_usage(acre_concurrent_multi_pool_resource(shared.any)).live == 0);
    CHECK(acre_concurrent_multi_arena_busy(shared.arenas) == 0);
    CHECK(acre_statistics_counts(statistics).allocations.total == threads * rounds);
    CHECK(acre_statistics_counts(statistics).allocations.value == 0);
    acre_statistics_destroy(statistics);
    acre_concurrent_arena_destroy(shared.arena);
    acre_concurrent_pool_destroy(shared.pool);
    acre_concurrent_multi_pool_destroy(shared.any);
    acre_concurrent_multi_arena_destroy(shared.arenas);
}
