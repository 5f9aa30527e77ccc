// Programs that a malloc library must not hang, end or refuse: a case by its name, run with the library preloaded.
// Status 0: it did as it must. Each is small enough for every test run.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

static int fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

// Y23: what runs at an abort may allocate and fork, as crash reporters do.

static void on_abort(int number) {
    (void)number;
    for (int i = 0; i < 4000; ++i) kept = malloc(48);  // more than a thread has at hand
    kept = malloc(1 << 20);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    _exit(0);
}

static void* allocate_for_ever(void* unused) {
    for (;;) free(kept = malloc(100));
    return unused;
}

enum { small_count = 2000 };
static void* small[small_count];

// The slab has other free slots before: step 2 leaves half of them in use.
static void free_a_small_block_twice(int step) {
    for (int i = 0; i < small_count; ++i) small[i] = malloc(48);
    void* volatile twice = small[0];
    for (int i = 0; i < small_count / 2; i += step) free(small[i]);
    free(twice);
    for (int i = small_count / 2; i < small_count; i += step) free(small[i]);
}

static void free_a_large_block_twice(void) {
    void* volatile twice = malloc(1 << 20);
    free(twice);
    free(twice);
}

static int handler_at_abort(const char* which) {
    signal(SIGABRT, &on_abort);
    pthread_t thread;
    if (strcmp(which, "threads") == 0) pthread_create(&thread, NULL, &allocate_for_ever, NULL);
    if (strcmp(which, "large") == 0) free_a_large_block_twice();
    free_a_small_block_twice(strcmp(which, "live") == 0 ? 2 : 1);
    return fail("the double free was not noticed");
}

// The sentence is written where standard error is by then, without a buffer of stdio.
static int reopened_standard_error(void) {
    char path[] = "/tmp/acre-hazards-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return fail("no file");
    const pid_t child = fork();
    if (child == 0) {
        if (freopen(path, "w", stderr) == NULL) _exit(2);
        free_a_large_block_twice();
        _exit(3);
    }
    waitpid(child, NULL, 0);
    char text[200] = {0};
    const ssize_t got = read(file, text, sizeof text - 1);
    unlink(path);
    return got > 0 && strstr(text, "double free") != NULL ? 0 : fail("the sentence is lost");
}

int main(int arguments, char** argument) {
    const char* const name = arguments > 1 ? argument[1] : "";
    const char* const which = arguments > 2 ? argument[2] : "";
    alarm(20);
    if (strcmp(name, "abort") == 0) return handler_at_abort(which);
    if (strcmp(name, "reopened") == 0) return reopened_standard_error();
    return fail("no such case");
}
