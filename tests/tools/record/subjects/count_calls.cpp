// Counts every allocation and free of a process and its libraries: two numbers in the file that ACRE_COUNT_FILE names.
// Its definitions precede those of the recorder. A call that one of these functions makes is not counted again.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

struct counts {
    std::atomic<unsigned long> allocations;
    std::atomic<unsigned long> frees;
};

counts at_first;
std::atomic<counts*> counted{&at_first};

[[gnu::tls_model("initial-exec")]] thread_local int depth;

class counted_call {
public:
    counted_call() { ++depth; }
    ~counted_call() { --depth; }
    counted_call(const counted_call&) = delete;
    counted_call& operator=(const counted_call&) = delete;
};

void* count_allocation(void* p) {
    if (p != nullptr && depth == 1) counted.load()->allocations.fetch_add(1);
    return p;
}

void count_free(const void* p) {
    if (p != nullptr && depth == 1) counted.load()->frees.fetch_add(1);
}

/// From here on the counts are in the file, so they survive however the process ends.
[[gnu::constructor]] void count_in_file() {
    const char* name = std::getenv("ACRE_COUNT_FILE");
    const int file = name != nullptr ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof(counts)) != 0) return;
    void* mapped = mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    auto* in_file = static_cast<counts*>(mapped);
    in_file->allocations = at_first.allocations.load();
    in_file->frees = at_first.frees.load();
    counted = in_file;
}

template <typename Function>
Function* next_definition(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
    const counted_call call;
    static const auto next = next_definition<void*(std::size_t)>("malloc");
    return count_allocation(next(size));
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    const counted_call call;
    static const auto next = next_definition<void*(std::size_t, std::size_t)>("calloc");
    return count_allocation(next(count, size));
}

void* realloc(void* p, std::size_t size) noexcept {
    const counted_call call;
    static const auto next = next_definition<void*(void*, std::size_t)>("realloc");
    void* q = next(p, size);
    if (q != nullptr || size == 0) count_free(p);
    return count_allocation(q);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    const counted_call call;
    static const auto next = next_definition<int(void**, std::size_t, std::size_t)>("posix_memalign");
    const int error = next(out, alignment, size);
    if (error == 0) count_allocation(*out);
    return error;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    const counted_call call;
    static const auto next = next_definition<void*(std::size_t, std::size_t)>("aligned_alloc");
    return count_allocation(next(alignment, size));
}

void free(void* p) noexcept {
    const counted_call call;
    static const auto next = next_definition<void(void*)>("free");
    count_free(p);
    next(p);
}

}  // extern "C"

void* operator new(std::size_t size) {
    const counted_call call;
    static const auto next = next_definition<void*(std::size_t)>("_Znwm");
    return count_allocation(next(size));
}

void operator delete(void* p) noexcept {
    const counted_call call;
    static const auto next = next_definition<void(void*)>("_ZdlPv");
    count_free(p);
    next(p);
}

void operator delete(void* p, std::size_t) noexcept {
    ::operator delete(p);
}
