// Counts every allocation and free of the whole process, its libraries' as well, in a file that its argument names: it
// stands in front of the recorder, which comes next in the order of definitions.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct counts {
    std::atomic<unsigned long> allocations;
    std::atomic<unsigned long> frees;
};

counts before_main;
std::atomic<counts*> counted{&before_main};

template <typename Function>
Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* count_allocation(void* p) {
    if (p != nullptr) counted.load()->allocations.fetch_add(1);
    return p;
}

void count_free(const void* p) {
    if (p != nullptr) counted.load()->frees.fetch_add(1);
}

/// From now on in the file, where it stays whatever happens after main.
bool count_in_file(const char* name) {
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof(counts)) != 0) return false;
    void* mapped = mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return false;
    auto* in_file = static_cast<counts*>(mapped);
    in_file->allocations = before_main.allocations.load();
    in_file->frees = before_main.frees.load();
    counted = in_file;
    return true;
}

void work(unsigned seed) {
    std::map<unsigned, std::string> kept;
    void* grown = nullptr;
    for (unsigned i = 0; i < 100'000; ++i) {
        seed = seed * 1'664'525 + 1'013'904'223;
        kept[seed % 500] = std::string(seed >> 24, 'x');
        if (i % 7 == 0) grown = std::realloc(grown, 1 + seed % 1000);
        if (i % 11 == 0) std::free(std::calloc(3, seed % 100));
    }
    std::free(grown);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
    static const auto function = next(malloc, "malloc");
    return count_allocation(function(size));
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    static const auto function = next(calloc, "calloc");
    return count_allocation(function(count, size));
}

void* realloc(void* p, std::size_t size) noexcept {
    static const auto function = next(realloc, "realloc");
    count_free(p);
    return count_allocation(function(p, size));
}

void free(void* p) noexcept {
    static const auto function = next(free, "free");
    count_free(p);
    function(p);
}

}  // extern "C"

void* operator new(std::size_t size) {
    static const auto function = next(static_cast<void* (*)(std::size_t)>(::operator new), "_Znwm");
    return count_allocation(function(size));
}

void operator delete(void* p) noexcept {
    static const auto function = next(static_cast<void (*)(void*)>(::operator delete), "_ZdlPv");
    count_free(p);
    function(p);
}

void operator delete(void* p, std::size_t) noexcept {
    ::operator delete(p);
}

int main(int count, char** arguments) {
    if (count < 2 || !count_in_file(arguments[1])) return 2;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    for (auto& each : threads) each.join();
}
