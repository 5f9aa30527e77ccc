// Pools of one size and of any, alone and concurrent.
#include "check.h"

enum { count = 1000 };

static void slots_of_each_size(void) {
    static const size_t sizes[] = {1, 8, 9, 24, 100, 129, 500, 513, 5000, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        acre_pool* pool = acre_pool_create(sizes[i], NULL);
        const size_t bytes = acre_pool_slot_bytes(pool);
        CHECK(bytes >= sizes[i] && (sizes[i] <= 128 ? bytes < sizes[i] + 16 : bytes <= sizes[i] + sizes[i] / 4 + 16));
        void* slots[20];
        for (int k = 0; k < 20; ++k) {
            slots[k] = acre_pool_allocate(pool);
            CHECK(slots[k] != NULL && is_aligned(slots[k], bytes == 8 ? 8 : 16));
            memset(slots[k], k, bytes);
        }
        CHECK(acre_resource_usage(acre_pool_resource(pool)).live == 20);
        for (int k = 0; k < 20; ++k) {
            CHECK(*(unsigned char*)slots[k] == k);
            acre_pool_free(pool, slots[k]);
        }
        CHECK(acre_resource_usage(acre_pool_resource(pool)).live == 0);
        (void)acre_pool_release_unused(pool);
        CHECK(acre_resource_usage(acre_pool_resource(pool)).capacity == 0);
        CHECK(acre_pool_allocate(pool) != NULL);
        acre_pool_reset(pool);
        CHECK(acre_resource_usage(acre_pool_resource(pool)).live == 0);
        acre_pool_destroy(pool);
    }
}

static void a_pool_as_a_resource_serves_other_sizes_from_upstream(void) {
    acre_pool* pool = acre_pool_create(64, NULL);
    acre_resource* resource = acre_pool_resource(pool);
    void* small = acre_resource_allocate(resource, 40, 0);
    void* large = acre_resource_allocate(resource, 4000, 0);
    CHECK(small != NULL && large != NULL);
    CHECK(acre_resource_owns(resource, small));
    acre_resource_free(resource, small, 40, 0);
    acre_resource_free(resource, large, 4000, 0);
    acre_pool_destroy(pool);
}

static void a_concurrent_pool_in_one_thread(void) {
    acre_concurrent_pool* pool = acre_concurrent_pool_create(48, &(acre_pool_options){.thread_bytes = 4096});
    CHECK(acre_concurrent_pool_slot_bytes(pool) == 48);
    void* slots[count];
    for (int i = 0; i < count; ++i) CHECK((slots[i] = acre_concurrent_pool_allocate(pool)) != NULL);
    CHECK(acre_resource_usage(acre_concurrent_pool_resource(pool)).live == count);
    for (int i = 0; i < count; ++i) acre_concurrent_pool_free(pool, slots[i]);
    CHECK(acre_resource_usage(acre_concurrent_pool_resource(pool)).live == 0);
    CHECK(acre_concurrent_pool_release_unused(pool) > 0);
    acre_concurrent_pool_reset(pool);
    acre_concurrent_pool_destroy(pool);
}

static void any_size_in_a_multi_pool(void) {
    acre_multi_pool* pool = acre_multi_pool_create(NULL);
    unsigned char* blocks[count];
    for (size_t i = 0; i < count; ++i) {
        blocks[i] = acre_multi_pool_allocate(pool, i * 13, 0);
        CHECK(blocks[i] != NULL);
        if (i != 0) memset(blocks[i], (int)(i % 200), i * 13);
    }
    CHECK(acre_resource_usage(acre_multi_pool_resource(pool)).live == count);
    for (size_t i = 0; i < count; ++i) {
        CHECK(i == 0 || blocks[i][i * 13 - 1] == i % 200);
        acre_multi_pool_free(pool, blocks[i], i * 13, 0);
    }
    CHECK(acre_resource_usage(acre_multi_pool_resource(pool)).live == 0);
    CHECK(acre_multi_pool_release_unused(pool) > 0);
    CHECK(acre_multi_pool_allocate(pool, 100, 256) != NULL);
    acre_multi_pool_reset(pool);
    CHECK(acre_resource_usage(acre_multi_pool_resource(pool)).live == 0);
    acre_multi_pool_destroy(pool);
}

static void a_concurrent_multi_pool_in_one_thread(void) {
    acre_concurrent_multi_pool* pool = acre_concurrent_multi_pool_create(&(acre_pool_options){.limit_bytes = 1 << 20});
    void* p = acre_concurrent_multi_pool_allocate(pool, 300, 0);
    CHECK(p != NULL);
    CHECK(acre_concurrent_multi_pool_allocate(pool, 1 << 21, 0) == NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    acre_concurrent_multi_pool_free(pool, p, 300, 0);
    CHECK(acre_resource_usage(acre_concurrent_multi_pool_resource(pool)).live == 0);
    (void)acre_concurrent_multi_pool_release_unused(pool);
    acre_concurrent_multi_pool_reset(pool);
    acre_concurrent_multi_pool_destroy(pool);
}

void test_pools(void) {
    slots_of_each_size();
    a_pool_as_a_resource_serves_other_sizes_from_upstream();
    a_concurrent_pool_in_one_thread();
    any_size_in_a_multi_pool();
    a_concurrent_multi_pool_in_one_thread();
}
