// Functions that only jemalloc has, mixed with those of the standard.
// Usage: jemalloc_only HOW
#include "hazard.h"

void* mallocx(size_t, int);
void* rallocx(void*, size_t, int);
size_t xallocx(void*, size_t, size_t, int);
size_t sallocx(const void*, int);
size_t nallocx(size_t, int);
void dallocx(void*, int);
void sdallocx(void*, size_t, int);
int mallctl(const char*, void*, size_t*, void*, size_t);

int main(int count, char** arguments) {
    const char* how = arguments[1];
    for (int i = 0; i < 100; ++i) {
        char* block = NULL;
        if (is(how, "mallocx-free")) free(memset(mallocx(100, 0), 1, 100));
        if (is(how, "malloc-sdallocx")) sdallocx(memset(malloc(100), 1, 100), 100, 0);
        if (is(how, "malloc-dallocx")) dallocx(memset(malloc(100), 1, 100), 0);
        if (is(how, "malloc-rallocx")) dallocx(memset(rallocx(malloc(100), 5000, 0), 1, 5000), 0);
        if (is(how, "mallocx-realloc")) free(memset(realloc(mallocx(100, 0), 5000), 1, 5000));
        if (is(how, "sizes")) {
            block = malloc(100);
            must(sallocx(block, 0) == nallocx(100, 0), "sallocx");
            must(xallocx(block, 100, 0, 0) >= 100, "xallocx");
            free(block);
        }
        if (is(how, "flags")) {
            block = mallocx(100, 6 | 0x40);  // MALLOCX_ALIGN(64) | MALLOCX_ZERO
            must((long)block % 64 == 0 && block[99] == 0, "mallocx");
            free(block);
        }
    }
    say("%s\n", how);
    return 0;
}
