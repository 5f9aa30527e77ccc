// A plugin that is opened with RTLD_DEEPBIND, and a library that it needs, take memory in their constructors. Each
// frees and grows the other's, the program's, and what the C library allocated. Hazard Y25. PART says which of the
// three.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 60

#if PART == 1  // the library
char* needed[COUNT];
__attribute__((constructor)) static void begin(void) {
    for (size_t i = 0; i < COUNT; ++i) needed[i] = strdup("needed");
}
void needed_free(void* p) {
    free(p);
}

#elif PART == 2  // the plugin
extern char* needed[COUNT];
void needed_free(void* p);
char* made[COUNT];
__attribute__((constructor)) static void begin(void) {
    for (size_t i = 0; i < COUNT; ++i) made[i] = calloc(1, 50 * i + 1);
    needed[0] = realloc(needed[0], 5000);
    free(needed[1]);
    needed[1] = NULL;
    needed_free(made[1]);
    made[1] = NULL;
    // As libnuma does.
    FILE* const file = fopen("/proc/self/status", "r");
    char* line = NULL;
    size_t bytes = 0;
    while (file != NULL && getline(&line, &bytes, file) > 0) continue;
    if (file != NULL) fclose(file);
    free(line);
}
void plugin_free(void* p) {
    free(p);
}
char** plugin_blocks(int of_needed) {
    return of_needed ? needed : made;
}
size_t plugin_usable(void* p) {
    return malloc_usable_size(p);
}

#else  // the program
int main(int arguments, char** argument) {
    void* const plugin = arguments > 1 ? dlopen(argument[1], RTLD_NOW | RTLD_DEEPBIND) : NULL;
    if (plugin == NULL) return 2;
    void (*const plugin_free)(void*) = (void (*)(void*))dlsym(plugin, "plugin_free");
    char** (*const blocks)(int) = (char** (*)(int))dlsym(plugin, "plugin_blocks");
    size_t (*const usable)(void*) = (size_t (*)(void*))dlsym(plugin, "plugin_usable");
    for (int of_needed = 0; of_needed < 2; ++of_needed) {
        for (size_t i = 0; i < COUNT; ++i) {
            char* p = blocks(of_needed)[i];
            if (usable(p) != malloc_usable_size(p)) return 3;
            if (i % 3 == 0) p = realloc(p, 8000);
            i % 2 == 0 ? free(p) : plugin_free(p);
        }
    }
    plugin_free(strdup("the program's"));
    dlclose(plugin);
    return 0;
}
#endif
