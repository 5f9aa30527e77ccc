// One thread makes jobs and another frees them: a pool of both.
#include <acre.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { jobs = 1000, places = 16 };

struct job {
    int number;
};

static acre_concurrent_pool* pool;
static struct job* _Atomic handed_over[places];

static void* work(void* sum) {
    for (int i = 0; i < jobs; ++i) {
        struct job* next;
        while ((next = atomic_exchange(&handed_over[i % places], NULL)) == NULL) sched_yield();
        *(long*)sum += next->number;
        acre_concurrent_pool_free(pool, next);
    }
    return NULL;
}

int main(void) {
    pool = acre_concurrent_pool_create(sizeof(struct job), NULL);
    long sum = 0;
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, &sum) != 0) return 1;
    for (int i = 0; i < jobs; ++i) {
        struct job* made = acre_concurrent_pool_allocate(pool);
        made->number = i;
        while (atomic_load(&handed_over[i % places]) != NULL) sched_yield();
        atomic_store(&handed_over[i % places], made);
    }
    pthread_join(worker, NULL);
    printf("sum %ld, %zu jobs live\n", sum, acre_resource_usage(acre_concurrent_pool_resource(pool)).live);
    acre_concurrent_pool_destroy(pool);
    return 0;
}
