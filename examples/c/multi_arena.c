// Messages of any size in eight arenas: they are freed in about the order they came, and no memory is asked for later.
#include <acre.h>
#include <stdio.h>
#include <string.h>

enum { queue_length = 5 };

struct message {
    size_t bytes;
    char text[];
};

static struct message* make_message(acre_multi_arena* memory, int number) {
    char text[64];
    const size_t length = (size_t)snprintf(text, sizeof text, "message %d", number) + 1;
    struct message* made = acre_multi_arena_allocate(memory, sizeof *made + length, 0);
    if (made == NULL) return NULL;
    made->bytes = sizeof *made + length;
    memcpy(made->text, text, length);
    return made;
}

int main(void) {
    acre_multi_arena* memory = acre_multi_arena_create(&(acre_multi_arena_options){.arenas = 8, .bytes = 256});
    struct message* queue[queue_length] = {0};
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
        struct message** place = &queue[i % queue_length];
        if (*place != NULL) acre_multi_arena_free(memory, *place, (*place)->bytes, 0);
        *place = make_message(memory, i);
        refused += *place == NULL;
    }
    printf("last: %s, refused: %d\n", queue[999 % queue_length]->text, refused);
    for (int i = 0; i < queue_length; ++i) acre_multi_arena_free(memory, queue[i], queue[i]->bytes, 0);
    printf("arenas in use: %zu\n", acre_multi_arena_busy(memory));
    acre_multi_arena_destroy(memory);
    return 0;
}
