// Words in acre's general heap, in place of malloc's: what was allocated elsewhere is told apart where it is freed.
#define _POSIX_C_SOURCE 200809L
#include <acre.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* joined(char* text, const char* word) {
    const size_t before = text == NULL ? 0 : strlen(text) + 1;
    char* longer = acre_general_heap_realloc(text, before + strlen(word) + 1);
    if (longer == NULL) return NULL;
    if (before != 0) longer[before - 1] = ' ';
    strcpy(longer + before, word);
    return longer;
}

// A text of `joined`, or one of the C library.
static void free_text(char* text) {
    if (acre_general_heap_owns(text))
        acre_general_heap_free(text);
    else
        free(text);
}

int main(void) {
    char* texts[2] = {joined(joined(NULL, "from"), "acre"), strdup("from the C library")};
    for (int i = 0; i < 2; ++i) {
        puts(texts[i]);
        free_text(texts[i]);
    }
    return 0;
}
