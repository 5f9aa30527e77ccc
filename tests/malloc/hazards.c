// Programs that a malloc library must not hang, end or refuse: a case by its name, run with the library preloaded.
// Status 0: it did as it must. Each is small enough for every test run.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
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

static volatile sig_atomic_t has_allocated;

static void* allocate_for_ever(void* unused) {
    for (void* volatile each;; has_allocated = 1) {
        each = malloc(100);
        free(each);
    }
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
    if (strcmp(which, "threads") == 0) {
        pthread_create(&thread, NULL, &allocate_for_ever, NULL);
        // Its first slab could be the one that was just freed: then the second free is that of a block of its own.
        while (!has_allocated) sched_yield();
    }
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

// Y26: a signal handler forks while it interrupts malloc.

static volatile sig_atomic_t forks;

static void on_alarm(int number) {
    (void)number;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    ++forks;
}

static int fork_in_a_handler(void) {
    signal(SIGVTALRM, &on_alarm);
    const struct itimerval each = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_VIRTUAL, &each, NULL);
    static void* blocks[512];
    for (unsigned i = 0; forks < 100; i = i * 1103515245u + 12345u) {
        const unsigned at = (i >> 16) % 512;
        free(blocks[at]);
        blocks[at] = malloc(16 + (i >> 8) % (at % 8 == 0 ? 100000 : 3000));
    }
    return 0;
}

// Y28: what was freed does not count against a limit on memory.

static int limit_on_data(void) {
    const struct rlimit limit = {128 << 20, 128 << 20};
    setrlimit(RLIMIT_DATA, &limit);
    static void* blocks[1600];
    for (size_t i = 0; i < 1600; ++i) {
        blocks[i] = malloc(60000);
        if (blocks[i] == NULL) return fail("no memory for 92 MiB");
        memset(blocks[i], 1, 60000);
    }
    for (size_t i = 0; i < 1600; i += 2) free(blocks[i]);
    for (size_t i = 0; i < 1600; i += 32) {
        blocks[i] = malloc(1 << 20);
        if (blocks[i] == NULL) return fail("no memory for 50 MiB, where 46 are in use");
        memset(blocks[i], 1, 1 << 20);
    }
    return 0;
}

// Y22: a debugger writes every mapping without the flag dd to a core file.

static int core_file(void) {
    kept = memset(malloc(10 << 20), 1, 10 << 20);
    FILE* const file = fopen("/proc/self/smaps", "r");
    if (file == NULL) return fail("no smaps");
    char line[512];
    unsigned long kibibytes = 0;
    unsigned long sum = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Size: %lu", &kibibytes);
        if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dd") == NULL) sum += kibibytes;
    }
    fclose(file);
    return sum < 64 << 10 ? 0 : fail("reserved memory is written to core files");
}

static int options(void) {
    const int known[] = {M_MXFAST,       M_TRIM_THRESHOLD, M_TOP_PAD,    M_MMAP_THRESHOLD, M_MMAP_MAX,
                         M_CHECK_ACTION, M_PERTURB,        M_ARENA_TEST, M_ARENA_MAX};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (mallopt(known[i], 1) != 1) return fail("an option of glibc's is an error");
    }
    return mallopt(1000, 1) == 0 ? 0 : fail("an unknown option is none");
}

int main(int arguments, char** argument) {
    const char* const name = arguments > 1 ? argument[1] : "";
    const char* const which = arguments > 2 ? argument[2] : "";
    alarm(20);
    if (strcmp(name, "abort") == 0) return handler_at_abort(which);
    if (strcmp(name, "reopened") == 0) return reopened_standard_error();
    if (strcmp(name, "fork") == 0) return fork_in_a_handler();
    if (strcmp(name, "limit") == 0) return limit_on_data();
    if (strcmp(name, "core") == 0) return core_file();
    if (strcmp(name, "options") == 0) return options();
    return fail("no such case");
}
