/* Threads of which one object in 50 survives: a plan that counts the objects of its sites' blocks is wrong for it.
   Prints the most memory it had, in KiB.

   cc -O2 -g survivors.c -o survivors -pthread; acre record -o s.acre -- ./survivors 500000 4
   acre plan --policy counted s.acre -o s.plan; acre run --plan s.plan -- ./survivors 500000 4 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* __attribute__((noinline)) make0(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make1(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make2(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make3(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make4(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make5(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make6(unsigned s) {
    return malloc(60 + s % 100);
}
static void* __attribute__((noinline)) make7(unsigned s) {
    return malloc(60 + s % 100);
}
static void* (*const make[])(unsigned) = {make0, make1, make2, make3, make4, make5, make6, make7};

static long objects;

static void* work(void* number) {
    unsigned random = (unsigned)(size_t)number + 1;
    void** kept = malloc(sizeof(void*) * (size_t)(objects / 50 + 1));
    long survivors = 0;
    void* recent[64] = {0};
    for (long i = 0; i < objects; ++i) {
        random = random * 1103515245u + 12345u;
        void* made = make[(random >> 16) % 8](random >> 8);
        memset(made, 1, 60);
        void** place = i % 50 == 0 ? &kept[survivors++] : &recent[(random >> 10) % 64];
        if (i % 50 != 0) free(*place);
        *place = made;
    }
    for (long i = 0; i < survivors; ++i) free(kept[i]);
    for (int i = 0; i < 64; ++i) free(recent[i]);
    free(kept);
    return NULL;
}

int main(int count, char** arguments) {
    objects = count > 1 ? atol(arguments[1]) : 500000;
    const int threads = count > 2 && atoi(arguments[2]) < 64 ? atoi(arguments[2]) : 4;
    pthread_t all[64];
    for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) fputs(line + 6, stdout);
    return 0;
}
