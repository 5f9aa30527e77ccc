// Each misuse ends a child of this program, with a sentence.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

// True when the child ended as it should. AddressSanitizer itself reports a look at what lies in front of a freed
// block.
static bool is_expected(int status, const char* said, const char* sentence) {
#if defined(SANITIZED)
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && strstr(said, "ERROR: AddressSanitizer") != NULL) return true;
    // UndefinedBehaviorSanitizer, which comes with it here, sees that what is given is no object before acre does.
    if (strstr(said, "runtime error: member ") != NULL) return true;
#endif
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, sentence) != NULL;
}

// Runs `misuse` in a child, checks that it aborts and that standard error has `sentence`.
static void check_aborts(void (*misuse)(void), const char* sentence) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        misuse();
        _exit(0);
    }
    close(ends[1]);
    char said[2000];
    size_t length = 0;
    for (ssize_t got; length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (!is_expected(status, said, sentence)) {
        fprintf(stderr, "expected an abort with: %s\nfound the status %d and: %s\n", sentence, status, said);
        exit(1);
    }
}

static void a_double_free_of_a_slot(void) {
    acre_pool* pool = acre_pool_create(64, NULL);
    void* slot = acre_pool_allocate(pool);
    (void)acre_pool_allocate(pool);
    acre_pool_free(pool, slot);
    acre_pool_free(pool, slot);
}

static void a_slot_of_another_pool(void) {
    acre_pool* one = acre_pool_create(64, NULL);
    acre_pool* other = acre_pool_create(64, NULL);
    (void)acre_pool_allocate(one);
    acre_pool_free(one, acre_pool_allocate(other));
}

static void a_double_free_of_a_block(void) {
    acre_multi_pool* pool = acre_multi_pool_create(NULL);
    void* p = acre_malloc(acre_multi_pool_resource(pool), 100);
    (void)acre_malloc(acre_multi_pool_resource(pool), 100);
    acre_free(acre_multi_pool_resource(pool), p);
    acre_free(acre_multi_pool_resource(pool), p);
}

static void a_block_of_another_resource(void) {
    acre_multi_pool* one = acre_multi_pool_create(NULL);
    acre_multi_pool* other = acre_multi_pool_create(NULL);
    acre_free(acre_multi_pool_resource(one), acre_malloc(acre_multi_pool_resource(other), 100));
}

static void a_free_of_what_is_not_live(void) {
    acre_statistics* statistics = acre_statistics_create(acre_heap(), &(acre_statistics_options){.live_map = true});
    static int elsewhere;
    acre_resource_free(acre_statistics_resource(statistics), &elsewhere, sizeof elsewhere, 0);
}

static void a_free_to_a_null_handle(void) {
    static int elsewhere;
    acre_pool_free(NULL, &elsewhere);
}

static void an_upstream_is_destroyed_first(void) {
    acre_arena* below = acre_arena_create(NULL);
    (void)acre_pool_create(64, &(acre_pool_options){.upstream = acre_arena_resource(below)});
    acre_arena_destroy(below);
}

static void an_upstream_is_reset(void) {
    acre_arena* below = acre_arena_create(NULL);
    (void)acre_pool_create(64, &(acre_pool_options){.upstream = acre_arena_resource(below)});
    acre_arena_reset(below, ACRE_KEEP_ALL);
}

static void a_handle_is_destroyed_twice(void) {
    acre_arena* arena = acre_arena_create(NULL);
    acre_arena_destroy(arena);
    acre_arena_destroy(arena);
}

static void a_large_handle_is_destroyed_twice(void) {
    acre_concurrent_multi_pool* pool = acre_concurrent_multi_pool_create(NULL);
    (void)acre_concurrent_multi_pool_create(NULL);  // behind it, so that malloc keeps it as a free block of its own
    acre_concurrent_multi_pool_destroy(pool);
    acre_concurrent_multi_pool_destroy(pool);
}

static void a_destroyed_handle_allocates(void) {
    acre_multi_arena* arenas = acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 1, .bytes = 64});
    acre_multi_arena_destroy(arenas);
    (void)acre_multi_arena_allocate(arenas, 8, 0);
}

static void a_destroyed_handle_frees(void) {
    acre_pool* pool = acre_pool_create(64, NULL);
    void* slot = acre_pool_allocate(pool);
    acre_pool_destroy(pool);
    acre_pool_free(pool, slot);
}

static void a_destroyed_upstream(void) {
    acre_arena* below = acre_arena_create(NULL);
    acre_resource* resource = acre_arena_resource(below);
    acre_arena_destroy(below);
    (void)acre_pool_create(64, &(acre_pool_options){.upstream = resource});
}

static void a_pool_in_place_of_an_arena(void) {
    (void)acre_arena_allocate((acre_arena*)acre_pool_create(64, NULL), 8, 0);
}

static void an_arena_in_place_of_a_pool(void) {
    (void)acre_pool_allocate((acre_pool*)acre_arena_create(NULL));
}

static void an_arena_in_place_of_statistics(void) {
    (void)acre_statistics_counts((acre_statistics*)acre_arena_create(NULL));
}

static void the_heap_is_destroyed(void) {
    acre_arena_destroy((acre_arena*)acre_heap());
}

static void anything_in_place_of_an_upstream(void) {
    static size_t zeros[100];
    (void)acre_arena_create(&(acre_arena_options){.upstream = (acre_resource*)zeros});
}

static void anything_in_place_of_a_resource(void) {
    static size_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)acre_malloc((acre_resource*)numbers, 8);
}

static void* one_byte_after(void* context, size_t bytes, size_t alignment) {
    (void)bytes, (void)alignment;
    return (char*)context + 1;
}

static void free_nothing(void* context, void* p, size_t bytes, size_t alignment) {
    (void)context, (void)p, (void)bytes, (void)alignment;
}

static void a_function_ignores_the_alignment(void) {
    static max_align_t storage[1000];
    acre_custom* custom = acre_custom_create(
        &(acre_functions){.context = storage, .allocate = one_byte_after, .deallocate = free_nothing});
    (void)acre_arena_allocate(acre_arena_create(&(acre_arena_options){.upstream = acre_custom_resource(custom)}), 8, 0);
}

static void a_mark_that_a_reset_made_void(void) {
    acre_arena* arena = acre_arena_create(NULL);
    for (int i = 0; i < 100; ++i) (void)acre_arena_allocate(arena, 1000, 0);
    const acre_mark mark = acre_arena_mark(arena);
    acre_arena_reset(arena, ACRE_KEEP_NOTHING);
    acre_arena_rewind(arena, mark);
}

static void say_it_in_words_of_mine(const acre_misuse* noticed) {
    fprintf(stderr, "mine: %s, %s\n", noticed->resource, noticed->what);
}

static void a_double_free_with_a_handler(void) {
    CHECK(acre_set_misuse_handler(say_it_in_words_of_mine) == NULL);
    a_double_free_of_a_slot();
}

static void a_double_free_with_the_default_handler_again(void) {
    CHECK(acre_set_misuse_handler(say_it_in_words_of_mine) == NULL);
    CHECK(acre_set_misuse_handler(NULL) == say_it_in_words_of_mine);
    a_double_free_of_a_slot();
}

void test_misuse(void) {
    check_aborts(a_double_free_of_a_slot, "acre::pool: double free");
    check_aborts(a_slot_of_another_pool, "acre::pool: a pointer of another resource was freed");
    check_aborts(a_double_free_of_a_block, "double free");
    check_aborts(a_block_of_another_resource, "a pointer was freed that was never handed out");
    check_aborts(a_free_of_what_is_not_live, "a pointer was freed that is not live");
    check_aborts(a_free_to_a_null_handle, "freed to a null handle");
    check_aborts(an_upstream_is_destroyed_first, "destroyed while another resource takes memory from it");
    check_aborts(an_upstream_is_reset, "reset while another resource takes memory from it");
    check_aborts(a_handle_is_destroyed_twice, "acre_resource: a handle was used after it was destroyed");
    check_aborts(a_large_handle_is_destroyed_twice, "used after it was destroyed");
    check_aborts(a_destroyed_handle_allocates, "used after it was destroyed");
    check_aborts(a_destroyed_handle_frees, "used after it was destroyed");
    check_aborts(a_destroyed_upstream, "used after it was destroyed");
    check_aborts(a_pool_in_place_of_an_arena, "acre_resource: a handle of another kind was given");
    check_aborts(an_arena_in_place_of_a_pool, "a handle of another kind was given");
    check_aborts(an_arena_in_place_of_statistics, "a handle of another kind was given");
    check_aborts(the_heap_is_destroyed, "a handle of another kind was given");
    check_aborts(anything_in_place_of_an_upstream, "a pointer was given that is no handle");
    check_aborts(anything_in_place_of_a_resource, "a pointer was given that is no handle");
    check_aborts(a_function_ignores_the_alignment, "acre_custom: its function returned a pointer that is not aligned");
    check_aborts(a_mark_that_a_reset_made_void, "rewound to a mark");
    check_aborts(a_double_free_with_a_handler, "mine: acre::pool, double free");
    check_aborts(a_double_free_with_the_default_handler_again, "acre::pool: double free (pointer");
}
