// Threads that come, allocate and end in unusual ways.
// Usage: threads HOW [NUMBER]
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "hazard.h"

static pthread_key_t key;
static atomic_int rounds;  // of all threads

static void* churn_some(void* pairs) {
    churn((int)(long)pairs);
    ++rounds;
    return NULL;
}

/// Sleeps until all threads together have gone so many rounds: a machine that does much else starts them late.
static void wait_for_rounds(int n) {
    while (rounds < n) usleep(1000);
}

static void free_and_allocate(void* block) {
    free(block);
    churn(10);
}

static void* leave_to_destructor(void* unused) {
    pthread_setspecific(key, malloc(50));
    return unused;
}

static void* churn_for_ever(void* unused) {
    for (;;) {
        churn(100);
        ++rounds;
        pthread_testcancel();
    }
    return unused;
}

static void* end_the_process(void* unused) {
    usleep(20000);
    churn(100);
    say("the last thread ends\n");
    return unused;
}

static void* leave_by_system_call(void* unused) {
    churn(100);
    syscall(SYS_exit, 0);
    return unused;
}

static void together(int n, void* (*work)(void*), void* argument) {
    pthread_t all[64];
    for (int i = 0; i < n; ++i) must(pthread_create(&all[i], NULL, work, argument) == 0, "pthread_create");
    for (int i = 0; i < n; ++i) pthread_join(all[i], NULL);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    const int number = count > 2 ? atoi(arguments[2]) : 16;
    churn(100);
    if (is(how, "together")) together(number, churn_some, (void*)20000L);
    if (is(how, "in-turn"))
        for (int i = 0; i < number; ++i) together(1, churn_some, (void*)1L);
    if (is(how, "destructor")) {
        pthread_key_create(&key, free_and_allocate);
        for (int i = 0; i < number; ++i) together(4, leave_to_destructor, NULL);
    }
    if (is(how, "cancel")) {
        for (int i = 0; i < number; ++i) {
            pthread_t thread;
            pthread_create(&thread, NULL, churn_for_ever, NULL);
            wait_for_rounds(rounds + 1);
            pthread_cancel(thread);
            pthread_join(thread, NULL);
        }
    }
    if (is(how, "by-system-call")) {
        pthread_t thread;
        for (int i = 0; i < number; ++i) {
            pthread_create(&thread, NULL, leave_by_system_call, NULL);
            pthread_join(thread, NULL);
        }
    }
    if (is(how, "detached")) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t thread;
        for (int i = 0; i < number; ++i) {
            pthread_create(&thread, &attributes, churn_some, (void*)100L);
            usleep(1000);
        }
        wait_for_rounds(number);
    }
    if (is(how, "main-first")) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_the_process, NULL);
        pthread_exit(NULL);
    }
    if (is(how, "running-at-exit")) {
        pthread_t thread;
        for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, churn_for_ever, NULL);
        wait_for_rounds(8);
    }
    if (is(how, "small-stack")) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        must(pthread_attr_setstacksize(&attributes, 16384) == 0, "pthread_attr_setstacksize");
        pthread_t thread;
        for (int i = 0; i < 8; ++i) {
            must(pthread_create(&thread, &attributes, churn_some, (void*)1000L) == 0, "pthread_create");
            pthread_join(thread, NULL);
        }
    }
    say("%s\n", how);
    return 0;
}
