// The last error, options and null handles.
#include <pthread.h>

#include "check.h"

static void a_refused_request_says_why(void) {
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.limit_bytes = 4096});
    CHECK(arena != NULL);
    CHECK(acre_last_status() == ACRE_OK && strcmp(acre_last_error(), "") == 0);
    CHECK(acre_arena_allocate(arena, 1 << 20, 0) == NULL);
    CHECK(strstr(acre_last_error(), "acre::arena: limit exceeded") != NULL);
    CHECK_ERROR(ACRE_LIMIT_EXCEEDED);
    CHECK(acre_arena_allocate(arena, SIZE_MAX - 8, 0) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    CHECK(acre_arena_allocate(arena, 8, 24) == NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    // A power of two that no object can be aligned to.
    CHECK(acre_arena_allocate(arena, 8, SIZE_MAX / 2 + 1) == NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    CHECK(acre_aligned_alloc(acre_heap(), SIZE_MAX / 2 + 1, 8) == NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    CHECK(acre_arena_allocate_array(arena, SIZE_MAX / 4, 8, 0) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    // A call that succeeds leaves the last error.
    CHECK(acre_arena_allocate(arena, 8, 24) == NULL);
    CHECK(acre_arena_allocate(arena, 8, 0) != NULL);
    CHECK_ERROR(ACRE_BAD_ALIGNMENT);
    acre_arena_destroy(arena);
}

static void a_planned_refusal_does_not_say_why(void) {
    acre_multi_arena* arenas = acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 1, .bytes = 1024});
    acre_resource* memory = acre_multi_arena_resource(arenas);
    void* p = acre_resource_try_allocate(memory, 1000, 0);
    CHECK(p != NULL && is_aligned(p, 16));
    CHECK(acre_resource_try_allocate(memory, 1000, 0) == NULL);
    CHECK_ERROR(ACRE_REFUSED);
    CHECK(acre_resource_try_allocate(memory, 8, 24) == NULL);
    CHECK_ERROR(ACRE_REFUSED);
    CHECK(acre_resource_try_allocate(NULL, 8, 0) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    acre_resource_free(memory, p, 1000, 0);
    acre_multi_arena_destroy(arenas);
}

static void options_out_of_range_are_refused(void) {
    CHECK(acre_arena_create(&(acre_arena_options){.first_block_bytes = 1}) == NULL);
    CHECK(strstr(acre_last_error(), ".first_block_bytes = 1") != NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_arena_create(&(acre_arena_options){.reserved = {0, 1}}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_concurrent_arena_create(&(acre_concurrent_arena_options){.window_bytes = 3}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_pool_create(0, NULL) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_pool_create(SIZE_MAX, NULL) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_pool_create(64, &(acre_pool_options){.thread_bytes = 4096}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_multi_pool_create(&(acre_pool_options){.limit_bytes = 1}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_multi_arena_create(NULL) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 4, .bytes = 64, .open = 9}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_concurrent_multi_arena_create(
              &(acre_multi_arena_options){.arenas = 4, .bytes = 64, .takes_runs = true}) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_buffer_create(NULL, 100) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_custom_create(NULL) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
}

static void a_null_handle_refuses_everything(void) {
    CHECK(acre_arena_allocate(NULL, 8, 0) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_arena_resource(NULL) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_malloc(NULL, 8) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_realloc(NULL, NULL, 8) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_pool_allocate(NULL) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_multi_arena_busy(NULL) == 0);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_statistics_create(NULL, NULL) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_statistics_counts(NULL).bytes.total == 0);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_resource_usage(NULL).capacity == 0);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    const acre_mark nowhere = acre_arena_mark(NULL);
    acre_arena_rewind(NULL, nowhere);
    acre_arena_reset(NULL, ACRE_KEEP_ALL);
    acre_pool_reset(NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    // Freeing nothing and destroying nothing are no errors.
    acre_pool_free(NULL, NULL);
    acre_multi_pool_free(NULL, NULL, 8, 0);
    acre_free(NULL, NULL);
    acre_arena_destroy(NULL);
    acre_pool_destroy(NULL);
    acre_statistics_destroy(NULL);
    CHECK(acre_last_status() == ACRE_OK);
}

// Where a pointer or a number is needed besides the handle, a wrong one is refused as an option is.
static void arguments_out_of_range_are_refused(void) {
    acre_arena* arena = acre_arena_create(NULL);
    CHECK(acre_arena_copy(arena, NULL) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_arena_copy(NULL, NULL) == NULL);
    CHECK_ERROR(ACRE_NULL_HANDLE);
    CHECK(acre_arena_allocate(arena, 100, 0) != NULL);
    acre_arena_reset(arena, (acre_keep)77);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_resource_usage(acre_arena_resource(arena)).used >= 100);
    acre_concurrent_arena* shared = acre_concurrent_arena_create(NULL);
    acre_concurrent_arena_reset(shared, (acre_keep)3);
    CHECK_ERROR(ACRE_BAD_OPTION);
    acre_concurrent_arena_destroy(shared);

    acre_statistics* counting =
        acre_statistics_create(acre_arena_resource(arena), &(acre_statistics_options){.live_map = true});
    void* p = acre_resource_allocate(acre_statistics_resource(counting), 100, 0);
    CHECK(acre_statistics_report(counting, NULL, 10) == 0);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_statistics_live(counting, NULL, 10) == 0);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_statistics_report(counting, NULL, 0) > 0 && acre_statistics_live(counting, NULL, 0) == 1);
    acre_resource_free(acre_statistics_resource(counting), p, 100, 0);
    acre_statistics_destroy(counting);
    acre_arena_destroy(arena);

    // Storage that goes on past the last address.
    CHECK(acre_buffer_create((void*)(UINTPTR_MAX - 4095), 8192) == NULL);
    CHECK_ERROR(ACRE_BAD_OPTION);
    CHECK(acre_last_status() == ACRE_OK);
}

static void* last_status_of_a_thread(void* status) {
    *(acre_status*)status = acre_last_status();
    return NULL;
}

static void each_thread_has_its_own_last_error(void) {
    CHECK(acre_malloc(NULL, 8) == NULL);
    acre_status elsewhere = ACRE_FAILED;
    pthread_t other;
    CHECK(pthread_create(&other, NULL, last_status_of_a_thread, &elsewhere) == 0);
    pthread_join(other, NULL);
    CHECK(elsewhere == ACRE_OK);
    CHECK_ERROR(ACRE_NULL_HANDLE);
}

void test_errors(void) {
    char version[16];
    snprintf(version, sizeof version, "%d.%d.%d", ACRE_VERSION_NUMBER / 10000, ACRE_VERSION_NUMBER / 100 % 100,
             ACRE_VERSION_NUMBER % 100);
    CHECK(strcmp(acre_version(), version) == 0);
    a_refused_request_says_why();
    a_planned_refusal_does_not_say_why();
    options_out_of_range_are_refused();
    a_null_handle_refuses_everything();
    arguments_out_of_range_are_refused();
    each_thread_has_its_own_last_error();
}
