// acre_arena, acre_concurrent_arena, acre_buffer and acre_custom.
#include "check.h"

struct soldier {
    const char* name;
    double health;
};

static void an_arena_serves_sizes_alignments_and_texts(void) {
    acre_arena* arena = acre_arena_create(NULL);
    struct soldier* one = ACRE_NEW(arena, struct soldier);
    struct soldier* many = ACRE_NEW_ARRAY(arena, struct soldier, 100);
    CHECK(one != NULL && many != NULL && is_aligned(many, alignof(struct soldier)));
    memset(many, 0, 100 * sizeof *many);
    one->name = acre_arena_copy(arena, "Ugluk");
    CHECK(strcmp(one->name, "Ugluk") == 0);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* p = acre_arena_allocate(arena, 3, alignment);
        CHECK(p != NULL && is_aligned(p, alignment));
    }
    void* nothing = acre_arena_allocate(arena, 0, 0);
    CHECK(nothing != NULL && nothing != acre_arena_allocate(arena, 0, 0));
    CHECK(acre_resource_owns(acre_arena_resource(arena), one));
    CHECK(!acre_resource_owns(acre_arena_resource(arena), &one));
    const acre_usage usage = acre_resource_usage(acre_arena_resource(arena));
    CHECK(usage.used >= 101 * sizeof *one && usage.capacity >= usage.used && usage.live == ACRE_UNKNOWN);
    acre_arena_destroy(arena);
}

static void the_last_allocation_is_resized_in_place(void) {
    acre_arena* arena = acre_arena_create(NULL);
    char* text = acre_arena_allocate(arena, 10, 1);
    CHECK(acre_arena_resize(arena, text, 10, 1000));
    text[999] = 'x';
    (void)acre_arena_allocate(arena, 8, 0);
    CHECK(!acre_arena_resize(arena, text, 1000, 2000));
    CHECK(acre_arena_resize(arena, text, 1000, 500));
    CHECK(acre_last_status() == ACRE_OK);
    acre_arena_destroy(arena);
}

static void a_mark_takes_back_what_came_later(void) {
    acre_arena* arena = acre_arena_create(NULL);
    acre_resource* resource = acre_arena_resource(arena);
    const acre_mark empty = acre_arena_mark(arena);
    (void)acre_arena_allocate(arena, 100, 0);
    const size_t used = acre_resource_usage(resource).used;
    const acre_mark mark = acre_arena_mark(arena);
    for (int i = 0; i < 1000; ++i) CHECK(acre_arena_allocate(arena, 1000, 0) != NULL);
    acre_arena_rewind(arena, mark);
    CHECK(acre_resource_usage(resource).used == used);
    acre_arena_rewind(arena, empty);
    CHECK(acre_resource_usage(resource).used == 0);
    acre_arena_destroy(arena);
}

static void a_reset_keeps_as_much_as_is_asked(void) {
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.first_block_bytes = 1024});
    acre_resource* resource = acre_arena_resource(arena);
    for (int i = 0; i < 100; ++i) (void)acre_arena_allocate(arena, 500, 0);
    const size_t all = acre_resource_usage(resource).capacity;
    acre_arena_reset(arena, ACRE_KEEP_ALL);
    CHECK(acre_resource_usage(resource).capacity == all && acre_resource_usage(resource).used == 0);
    acre_arena_reset(arena, ACRE_KEEP_LARGEST);
    CHECK(acre_resource_usage(resource).capacity < all);
    acre_arena_reset(arena, ACRE_KEEP_NOTHING);
    CHECK(acre_resource_usage(resource).capacity == 0);
    acre_arena_destroy(arena);
}

static void an_arena_of_fixed_size_never_grows(void) {
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.fixed_bytes = 256});
    for (int i = 0; i < 4; ++i) CHECK(acre_arena_allocate(arena, 64, 0) != NULL);
    CHECK(acre_arena_allocate(arena, 10000, 0) == NULL);
    CHECK_ERROR(ACRE_REQUEST_TOO_LARGE);
    acre_arena_destroy(arena);
}

static void an_arena_over_storage_of_the_program(void) {
    static alignas(16) unsigned char storage[65536];
    acre_buffer* buffer = acre_buffer_create(storage, sizeof storage);
    acre_arena* arena =
        acre_arena_create(&(acre_arena_options){.first_block_bytes = 4096, .upstream = acre_buffer_resource(buffer)});
    unsigned char* p = acre_arena_allocate(arena, 1000, 0);
    CHECK(p >= storage && p < storage + sizeof storage);
    CHECK(acre_arena_allocate(arena, 1 << 20, 0) == NULL);
    CHECK_ERROR(ACRE_OUT_OF_MEMORY);
    acre_arena_destroy(arena);
    acre_buffer_reset(buffer);
    acre_buffer_destroy(buffer);
}

static void a_concurrent_arena_in_one_thread(void) {
    acre_concurrent_arena* arena = acre_concurrent_arena_create(NULL);
    for (int i = 0; i < 1000; ++i) {
        unsigned char* p = acre_concurrent_arena_allocate(arena, 100, 64);
        CHECK(p != NULL && is_aligned(p, 64));
        memset(p, i, 100);
    }
    CHECK(acre_resource_usage(acre_concurrent_arena_resource(arena)).used >= 100000);
    acre_concurrent_arena_reset(arena, ACRE_KEEP_NOTHING);
    CHECK(acre_resource_usage(acre_concurrent_arena_resource(arena)).capacity == 0);
    acre_concurrent_arena_destroy(arena);
}

void test_arenas(void) {
    an_arena_serves_sizes_alignments_and_texts();
    the_last_allocation_is_resized_in_place();
    a_mark_takes_back_what_came_later();
    a_reset_keeps_as_much_as_is_asked();
    an_arena_of_fixed_size_never_grows();
    an_arena_over_storage_of_the_program();
    a_concurrent_arena_in_one_thread();
}
