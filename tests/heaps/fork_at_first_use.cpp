// The child of a fork beside another thread's first use of the heap can use it. The other thread is stopped where it
// begins the heap, with the heap's lock held. Without a fork guard the fork copies that lock, and the child waits for
// it until the alarm. Exit status 0: the child could.
#include <dlfcn.h>
#include <sys/mman.h>
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

// The heap reserves its range when it begins.
extern "C" void* mmap(void* start, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    if (waits.exchange(false)) {
        begins = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{200});
    }
    using function = void* (*)(void*, std::size_t, int, int, int, off_t);
    return reinterpret_cast<function>(dlsym(RTLD_NEXT, "mmap"))(start, bytes, protection, flags, file, offset);
}

int main() {
    acre::general_heap heap;
    std::thread other{[&] {
        waits = true;
        heap.deallocate(heap.allocate(30, 8), 30, 8);
    }};
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
