// A library to load and unload. It allocates when it is loaded, when it is called, and when it is unloaded.
#include "hazard.h"

static void* kept;

__attribute__((constructor)) static void loaded(void) {
    kept = malloc(100);
}
__attribute__((destructor)) static void unloaded(void) {
    free(kept);
}

void* plug(int n) {
    churn(n);
    return malloc(n);
}
