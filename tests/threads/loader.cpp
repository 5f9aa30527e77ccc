// Loads a library, and ends with what a function of it returns.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
    void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    void* function = library == nullptr ? nullptr : dlsym(library, arguments[2]);
    if (function == nullptr) {
        std::puts(dlerror());
        return 2;
    }
    return reinterpret_cast<int (*)()>(function)();
}
