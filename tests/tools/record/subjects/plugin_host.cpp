// A program without the C++ library, which loads a plugin that has it.
#include <dlfcn.h>

int main(int, char** arguments) {
    void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 1;
    const auto call = reinterpret_cast<int (*)()>(dlsym(plugin, "catch_bad_alloc"));
    return call != nullptr ? call() : 2;
}
