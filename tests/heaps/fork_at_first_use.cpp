// The child of a fork beside another thread's first use of the heap can use it. The other thread is stopped where it
// begins the heap, with the heap's lock held. Without a fork guard the fork copies that lock, and the child waits for
// it until the alarm. Exit status 0: the child could.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <acre/heaps/general_heap.hpp>
#include <atomic>
#include <chrono>
#include <thread>

namespace {
std::atomic<bool> begins{false};
std::atomic<bool> waits{false};
}  // namespace

// The heap makes a key when it begins.
extern "C" int pthread_key_create(pthread_key_t* key, void (*at_end)(void*)) noexcept {
    if (waits.exchange(false)) {
        begins = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{200});
    }
    using function = int (*)(pthread_key_t*, void (*)(void*));
    return reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_key_create"))(key, at_end);
}

int main() {
    acre::general_heap heap;
    waits = true;
    std::thread other{[&] { heap.deallocate(heap.allocate(30, 8), 30, 8); }};
    while (!begins) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(2);
        heap.deallocate(heap.allocate(30, 8), 30, 8);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    other.join();
    return status == 0 ? 0 : 1;
}
