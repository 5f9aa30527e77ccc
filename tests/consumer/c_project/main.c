#include <acre.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    acre_arena* arena = acre_arena_create(NULL);
    char* text = acre_arena_copy(arena, "from C");
    const int wrong = text == NULL || strcmp(text, "from C") != 0;
    printf("acre %s, %s\n", acre_version(), text);
    acre_arena_destroy(arena);
    return wrong;
}
