// Upstream, functions of the program, refuses each request in turn: a call fails with an error, and nothing leaks.
#include "check.h"

struct upstream {
    size_t calls;
    size_t fails_at;  // the call that is refused, and all after it
    size_t live;
    size_t bytes;
};

static void* upstream_allocate(void* context, size_t bytes, size_t alignment) {
    struct upstream* upstream = context;
    if (++upstream->calls >= upstream->fails_at) return NULL;
    void* p = NULL;
    if (posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, bytes) != 0) return NULL;
    ++upstream->live;
    upstream->bytes += bytes;
    return p;
}

static void upstream_deallocate(void* context, void* p, size_t bytes, size_t alignment) {
    struct upstream* upstream = context;
    (void)alignment;
    --upstream->live;
    upstream->bytes -= bytes;
    free(p);
}

// Uses each kind of handle over `memory`; returns the number of calls that failed.
static int use_everything(acre_resource* memory) {
    const acre_multi_arena_options arenas = {.arenas = 4, .bytes = 1024, .upstream = memory};
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.upstream = memory});
    acre_arena* fixed = acre_arena_create(&(acre_arena_options){.fixed_bytes = 512, .upstream = memory});
    acre_concurrent_arena* shared = acre_concurrent_arena_create(&(acre_concurrent_arena_options){.upstream = memory});
    acre_pool* pool = acre_pool_create(64, &(acre_pool_options){.upstream = memory});
    acre_concurrent_pool* shared_pool = acre_concurrent_pool_create(64, &(acre_pool_options){.upstream = memory});
    acre_multi_pool* any = acre_multi_pool_create(&(acre_pool_options){.upstream = memory});
    acre_concurrent_multi_pool* shared_any =
        acre_concurrent_multi_pool_create(&(acre_pool_options){.upstream = memory});
    acre_multi_arena* multi = acre_multi_arena_create(&arenas);
    acre_concurrent_multi_arena* shared_multi = acre_concurrent_multi_arena_create(&arenas);
    int failed = (fixed == NULL) + (multi == NULL) + (shared_multi == NULL);
    for (int i = 0; i < 20; ++i) {
        failed += acre_arena_allocate(arena, 1000, 0) == NULL;
        failed += acre_concurrent_arena_allocate(shared, 1000, 0) == NULL;
        failed += acre_pool_allocate(pool) == NULL;
        failed += acre_concurrent_pool_allocate(shared_pool) == NULL;
        failed += acre_multi_pool_allocate(any, 9000, 0) == NULL;
        failed += acre_concurrent_multi_pool_allocate(shared_any, 9000, 0) == NULL;
        failed += acre_malloc(acre_multi_pool_resource(any), 100) == NULL;
        void* p = acre_multi_arena_allocate(multi, 100, 0);
        failed += p == NULL;
        acre_multi_arena_free(multi, p, 100, 0);
        p = acre_concurrent_multi_arena_allocate(shared_multi, 100, 0);
        failed += p == NULL;
        acre_concurrent_multi_arena_free(shared_multi, p, 100, 0);
    }
    acre_concurrent_multi_arena_destroy(shared_multi);
    acre_multi_arena_destroy(multi);
    acre_concurrent_multi_pool_destroy(shared_any);
    acre_multi_pool_destroy(any);
    acre_concurrent_pool_destroy(shared_pool);
    acre_pool_destroy(pool);
    acre_concurrent_arena_destroy(shared);
    acre_arena_destroy(fixed);
    acre_arena_destroy(arena);
    return failed;
}

void test_failures(void) {
    for (size_t at = 1;; ++at) {
        struct upstream upstream = {.fails_at = at};
        acre_custom* custom = acre_custom_create(
            &(acre_functions){.context = &upstream, .allocate = upstream_allocate, .deallocate = upstream_deallocate});
        const int failed = use_everything(acre_custom_resource(custom));
        CHECK(upstream.live == 0 && upstream.bytes == 0);
        CHECK((failed > 0) == (upstream.calls >= at));
        CHECK(failed == 0 || acre_last_status() == ACRE_OUT_OF_MEMORY || acre_last_status() == ACRE_NULL_HANDLE);
        acre_clear_error();
        acre_custom_destroy(custom);
        if (failed == 0) break;
    }
}
