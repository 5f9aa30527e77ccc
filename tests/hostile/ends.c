// Ends in every way there is, after some allocations.
// Usage: ends HOW [NUMBER]
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hazard.h"

static void at_the_end(void) {
    churn(50);
    say("at the end\n");
}

static void* leave(void* how) {
    if (is((const char*)how, "exit-in-thread")) exit(4);
    _exit(4);
}

static int recurse(int depth) {
    volatile char room[256];
    room[0] = (char)depth;
    free(malloc(10));
    return recurse(depth + 1) + room[0];
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    const int number = count > 2 ? atoi(arguments[2]) : 4;
    atexit(at_the_end);
    at_quick_exit(at_the_end);
    churn(100);
    if (is(how, "return")) return number;
    if (is(how, "exit")) exit(number);
    if (is(how, "_exit")) _exit(number);
    if (is(how, "quick_exit")) quick_exit(number);
    if (is(how, "exit_group")) syscall(SYS_exit_group, number);
    if (is(how, "abort")) abort();
    if (is(how, "signal")) raise(number);
    if (is(how, "kill")) kill(getpid(), number);
    if (is(how, "null")) *(volatile int*)8 = 1;
    if (is(how, "wild-free")) free((void*)0x1230);
    if (is(how, "double-free")) {
        void* block = malloc(5000);
        free(block);
        free(block);
    }
    if (is(how, "stack-overflow")) return recurse(0);
    if (is(how, "cpu-limit")) {
        const struct rlimit limit = {1, 1};
        setrlimit(RLIMIT_CPU, &limit);
        for (;;) churn(1);
    }
    if (is(how, "exit-in-thread") || is(how, "_exit-in-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, leave, arguments[1]);
        pause();
    }
    return 0;
}
