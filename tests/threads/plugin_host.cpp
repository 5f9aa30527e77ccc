// Hazard Y17: a thread uses a plugin, and ends after the plugin was unloaded.
#include "plugin_types.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace {
struct program {
    static constexpr int ints = 12;
};

using pool = acre::concurrent_pool<64>;

// A pool outlives the plugin's use, and a thread that used it.
void use_plugin(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::puts(dlerror());
        _exit(2);
    }
    const auto use = reinterpret_cast<pool* (*)()>(dlsym(library, "use_in_plugin"));
    const auto end = reinterpret_cast<void (*)(pool*)>(dlsym(library, "end_in_plugin"));
    pool* made = use();
    dlclose(library);
    std::thread{[&] { end(use()); }}.join();
    std::thread{[&] { plugin_types::use(*made); }}.join();
    end(made);
}
}  // namespace

int main(int, char** arguments) {
    bool is_unloaded = false;
    for (int round = 0; round < 3; ++round) {
        std::thread{[&] {
            if (round != 0) plugin_types::use_all<program>();
            use_plugin(arguments[1]);
            plugin_types::use_all<program>();
        }}.join();
        // The C library looks for what it can unload when a library is closed.
        dlclose(dlopen(arguments[1], RTLD_NOW));
        is_unloaded = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) == nullptr;
    }
    // The lists of the process have nothing of the plugin any more.
    acre::pool_registry::recycle();
    const pid_t child = fork();
    if (child == 0) _exit(acre::pool_registry::recycle() != 0);
    int status = 1;
    waitpid(child, &status, 0);
    std::printf("unloaded: %d, the child's status: %d\n", is_unloaded, status);
#if defined(__GLIBC__)
    return is_unloaded && status == 0 ? 0 : 1;
#else
    return status == 0 ? 0 : 1;
#endif
}
