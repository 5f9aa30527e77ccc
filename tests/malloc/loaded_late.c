// Loads the library given as argument with dlopen(), as a plugin or a language's runtime does, while threads run, and
// allocates by its own functions in old and new threads. Its thread-local storage has to fit where the C library keeps
// room for such libraries. Y33.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* (*allocate)(size_t);
static void (*give_back)(void*);
static pthread_barrier_t is_loaded;

static void* use(void* wait) {
    if (wait != NULL) pthread_barrier_wait(&is_loaded);
    for (size_t i = 1; i < 3000; ++i) give_back(memset(allocate(i * 7), 1, i * 7));
    return NULL;
}

int main(int arguments, char** argument) {
    if (arguments < 2) return 2;
    pthread_t threads[2];
    pthread_barrier_init(&is_loaded, NULL, 2);
    pthread_create(&threads[0], NULL, &use, &is_loaded);
    void* const library = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    // The library with the C interface has names of its own.
    void* const of_c = dlsym(library, "acre_general_heap_malloc");
    *(void**)&allocate = of_c != NULL ? of_c : dlsym(library, "malloc");
    *(void**)&give_back = dlsym(library, of_c != NULL ? "acre_general_heap_free" : "free");
    pthread_barrier_wait(&is_loaded);
    pthread_create(&threads[1], NULL, &use, NULL);
    use(NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
