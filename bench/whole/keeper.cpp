// Keeps so much free memory of this machine backed by its host.
//
// A virtual machine's memory may exist only after its first touch, and its host may take it back seconds after it was
// freed. Then a program's figures say how fast the host gives memory, not how fast the program is. This one touches
// memory and frees it at once, again and again: the pages that other programs get then are nearly always backed. It
// works for about a tenth of a second in each, and ends with the process that started it. It runs on any processor,
// also where what started it is pinned to one: a program that ran while this one waits for the same processor, its
// memory held, would get pages that are not backed.
//
// Usage: keeper MIB. Prints what the first touches took, and then the second: seconds for each GiB.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

// Seconds for each GiB; negative without memory.
double touch(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    const auto begun = std::chrono::steady_clock::now();
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    madvise(memory, bytes, MADV_HUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
    munmap(memory, bytes);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    return taken.count() * double(1 << 30) / double(bytes);
}

}  // namespace

int main(int count, char** arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t any;
    std::memset(&any, 0xff, sizeof any);
    sched_setaffinity(0, sizeof any, &any);
    const std::size_t bytes = std::strtoul(count > 1 ? arguments[1] : "800", nullptr, 10) << 20;
    const double first = touch(bytes);
    const double second = touch(bytes);
    if (first < 0 || second < 0) return 1;
    std::printf("%.2f %.2f\n", first, second);
    std::fflush(stdout);
    while (touch(bytes) >= 0) std::this_thread::sleep_for(std::chrono::seconds{1});
    return 1;
}
