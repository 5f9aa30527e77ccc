// Functions that only mimalloc has, mixed with those of the standard.
#include "hazard.h"

void* mi_malloc(size_t);
void mi_free(void*);
void* mi_realloc(void*, size_t);
size_t mi_usable_size(const void*);

int main(void) {
    for (int i = 0; i < 100; ++i) {
        free(mi_malloc(100));
        mi_free(malloc(100));
        free(mi_realloc(malloc(100), 5000));
        char* block = malloc(100);
        must(mi_usable_size(block) >= 100, "mi_usable_size");
        mi_free(block);
    }
    say("mixed\n");
    return 0;
}
