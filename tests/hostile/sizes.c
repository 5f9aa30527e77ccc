// Asks for the sizes of its blocks, and uses all of each, as redis does.
#include <malloc.h>

#include "hazard.h"

int main(void) {
    for (int i = 0; i < 2000; ++i) {
        char* block = malloc(i * 3 + 1);
        const size_t room = malloc_usable_size(block);
        must(room >= (size_t)(i * 3 + 1), "malloc_usable_size");
        memset(block, 1, room);
        block = realloc(block, i * 5 + 1);
        memset(block, 2, malloc_usable_size(block));
        free(block);
    }
    say("sized\n");
    return 0;
}
