// Functions that only tcmalloc has, mixed with those of the standard.
#include "hazard.h"

void* tc_malloc(size_t);
void tc_free(void*);
void* tc_realloc(void*, size_t);
size_t tc_malloc_size(void*);

int main(void) {
    for (int i = 0; i < 100; ++i) {
        free(tc_malloc(100));
        tc_free(malloc(100));
        free(tc_realloc(malloc(100), 5000));
        char* block = malloc(100);
        must(tc_malloc_size(block) >= 100, "tc_malloc_size");
        tc_free(block);
    }
    say("mixed\n");
    return 0;
}
