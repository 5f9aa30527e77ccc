// Unloads a library while a thread lives that used its general_heap. The thread's end must not call its code.
#include <dlfcn.h>

#include <cstdio>
#include <future>
#include <thread>

int main(int, char** arguments) {
    void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::puts(dlerror());
        return 2;
    }
    auto* use = reinterpret_cast<bool (*)()>(dlsym(library, "use_the_heap"));
    std::promise<bool> used;
    std::promise<void> unloaded;
    std::thread thread([&] {
        used.set_value(use());
        unloaded.get_future().wait();
    });
    const bool served = used.get_future().get() && use();
    dlclose(library);
    const bool gone = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) == nullptr;
    unloaded.set_value();
    thread.join();
    std::printf("served: %d, unloaded: %d\n", served, gone);
    return served && gone ? 0 : 1;
}
