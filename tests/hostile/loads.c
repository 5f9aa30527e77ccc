// Loads and unloads libraries while it allocates. The library lies beside the program.
// Usage: loads HOW
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>

#include "hazard.h"

static char library[4096];
static volatile int stop;

static void* churn_until_stopped(void* unused) {
    while (!stop) churn(100);
    return unused;
}

static void use(void* handle) {
    must(handle != NULL, "loading");
    void* (*plug)(int) = (void* (*)(int))dlsym(handle, "plug");
    must(plug != NULL, "dlsym");
    free(plug(10));
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    char own[4096];
    own[readlink("/proc/self/exe", own, sizeof own - 1)] = 0;
    snprintf(library, sizeof library, "%s/plugin", dirname(own));
    if (is(how, "storm"))
        for (int i = 0; i < 500; ++i) {
            void* handle = dlopen(library, RTLD_NOW);
            use(handle);
            dlclose(handle);
        }
    if (is(how, "storm-beside-threads")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, churn_until_stopped, NULL);
        for (int i = 0; i < 300; ++i) {
            void* handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
            use(handle);
            dlclose(handle);
        }
        stop = 1;
        for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    }
    if (is(how, "deep-bind")) use(dlopen(library, RTLD_NOW | RTLD_DEEPBIND));
    if (is(how, "dlmopen")) {
        // The namespace has a C library, and a heap, of its own: what it returns is not freed here.
        void* handle = dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
        must(handle != NULL, "dlmopen");
        void* (*plug)(int) = (void* (*)(int))dlsym(handle, "plug");
        for (int i = 0; i < 10; ++i) must(plug(10) != NULL, "plug");
        churn(100);
        dlclose(handle);
    }
    if (is(how, "next")) {
        void* (*next)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
        for (int i = 0; i < 100; ++i) free(next(10));
    }
    if (is(how, "from-the-c-library")) {
        void* handle = dlopen("libc.so.6", RTLD_NOW);
        void* (*its_malloc)(size_t) = (void* (*)(size_t))dlsym(handle, "malloc");
        void (*its_free)(void*) = (void (*)(void*))dlsym(handle, "free");
        for (int i = 0; i < 100; ++i) {
            free(its_malloc(10));
            its_free(malloc(10));
        }
    }
    churn(100);
    say("%s\n", how);
    return 0;
}
