// An arena for a document: its nodes and texts die together, and a mark takes back what a failed parse left.
#include <acre.h>
#include <stdio.h>
#include <string.h>

struct setting {
    const char* name;
    const char* value;
    struct setting* next;
};

// Adds the settings of `text`, "name=value name=value", in front of `first`. When one has no '=', the arena is as it
// was and `first` is returned.
static struct setting* parse(acre_arena* arena, struct setting* first, const char* text) {
    const acre_mark before = acre_arena_mark(arena);
    struct setting* newest = first;
    char* copy = acre_arena_copy(arena, text);
    for (char* word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        char* equals = strchr(word, '=');
        struct setting* added = equals == NULL ? NULL : ACRE_NEW(arena, struct setting);
        if (added == NULL) {
            acre_arena_rewind(arena, before);
            return first;
        }
        *equals = '\0';
        *added = (struct setting){word, equals + 1, newest};
        newest = added;
    }
    return newest;
}

int main(void) {
    acre_arena* document = acre_arena_create(&(acre_arena_options){.limit_bytes = 1 << 20});
    struct setting* settings = parse(document, NULL, "width=80 height=25");
    settings = parse(document, settings, "colour=green this is no setting");
    settings = parse(document, settings, "title=Moria");
    for (const struct setting* each = settings; each != NULL; each = each->next)
        printf("%s is %s\n", each->name, each->value);

    if (ACRE_NEW_ARRAY(document, char, 2 << 20) == NULL) printf("refused: %s\n", acre_last_error());
    acre_arena_destroy(document);
    return 0;
}
