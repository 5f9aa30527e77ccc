// A library that takes functions like malloc's runs in an arena: it frees nothing in order, and all is gone at once.
#include <acre.h>
#include <stdio.h>
#include <string.h>

// What the library's header declares, as those of zlib, Expat and many others do.
struct library_memory {
    void* context;
    void* (*allocate)(void* context, size_t bytes);
    void* (*resize)(void* context, void* p, size_t bytes);
    void (*release)(void* context, void* p);
};

// A function of that library: `times` copies of a text in one.
static char* repeat(const struct library_memory* memory, const char* text, size_t times) {
    char* all = memory->allocate(memory->context, 1);
    if (all == NULL) return NULL;
    *all = '\0';
    for (size_t i = 0; i < times; ++i) {
        char* longer = memory->resize(memory->context, all, strlen(all) + strlen(text) + 1);
        if (longer == NULL) {
            memory->release(memory->context, all);
            return NULL;
        }
        all = strcat(longer, text);
    }
    return all;
}

static void* allocate(void* resource, size_t bytes) {
    return acre_malloc(resource, bytes);
}
static void* resize(void* resource, void* p, size_t bytes) {
    return acre_realloc(resource, p, bytes);
}
static void release(void* resource, void* p) {
    acre_free(resource, p);
}

int main(void) {
    acre_arena* arena = acre_arena_create(&(acre_arena_options){.limit_bytes = 1 << 16});
    const struct library_memory memory = {acre_arena_resource(arena), allocate, resize, release};
    puts(repeat(&memory, "Moria ", 3));
    if (repeat(&memory, "too long ", 10000) == NULL) printf("refused: %s\n", acre_last_error());
    acre_arena_reset(arena, ACRE_KEEP_ALL);
    printf("%zu bytes in use\n", acre_resource_usage(acre_arena_resource(arena)).used);
    acre_arena_destroy(arena);
    return 0;
}
