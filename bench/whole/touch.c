// What a page costs that is touched and given back, and one that is asked for by MADV_POPULATE_WRITE (Linux 5.14).
//
//     cc -O1 -o touch bench/whole/touch.c && ./touch
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum { pages = 40, page = 4096, populate_write = 23 };

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static volatile char* map(void) {
    return (volatile char*)mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
    for (int round = 0; round < 8; ++round) {
        volatile char* touched = map();
        volatile char* populated = map();
        const double begin = microseconds();
        for (int i = 0; i < pages; ++i) touched[i * page] = 1;
        const double after_touch = microseconds();
        const int failed = madvise((void*)populated, pages * page, populate_write);
        const double after_populate = microseconds();
        munmap((void*)touched, pages * page);
        const double end = microseconds();
        munmap((void*)populated, pages * page);
        printf("%d pages: touched in %.1f us, given back in %.1f; asked for in %.1f%s\n", pages, after_touch - begin,
               end - after_populate, after_populate - after_touch, failed ? " (refused)" : "");
    }
}
