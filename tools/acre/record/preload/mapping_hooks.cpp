// Hooks of the functions by which a program unmaps memory or makes it unreadable. Walks of stacks read again what they
// have read before, without asking whether it is still there.
#include <sys/mman.h>

#include <cstdarg>

#include "recorder.hpp"

namespace acre::recorder {
namespace {

struct next_definitions {
    int (*munmap)(void*, std::size_t);
    int (*mprotect)(void*, std::size_t, int);
    void* (*mmap)(void*, std::size_t, int, int, int, off_t);
    void* (*mremap)(void*, std::size_t, std::size_t, int, ...);
};

long with_errno(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = static_cast<int>(-result);
    return -1;
}

void* address_with_errno(long result) {
    return reinterpret_cast<void*>(with_errno(result));
}

/// The system calls themselves, until the C library's functions are known.
constinit next_definitions next{
    [](void* at, std::size_t bytes) { return static_cast<int>(with_errno(system_call(__NR_munmap, at, bytes))); },
    [](void* at, std::size_t bytes, int protection) {
        return static_cast<int>(with_errno(system_call(__NR_mprotect, at, bytes, protection)));
    },
    [](void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
        return address_with_errno(system_call(__NR_mmap, at, bytes, protection, flags, file, offset));
    },
    nullptr};

template <typename Function>
void look_up(Function*& function, const char* name) {
    if (auto* found = next_definition<Function>(name); found != nullptr) function = found;
}

[[gnu::constructor]] void look_up_all() {
    look_up(next.munmap, "munmap");
    look_up(next.mprotect, "mprotect");
    look_up(next.mmap, "mmap");
    look_up(next.mremap, "mremap");
}

void* map(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    void* mapped = next.mmap(at, bytes, protection, flags, file, offset);
    if ((flags & MAP_FIXED) != 0) memory_gone(at, bytes);
    return mapped;
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

int munmap(void* at, std::size_t bytes) noexcept {
    const int result = next.munmap(at, bytes);
    memory_gone(at, bytes);
    return result;
}

int mprotect(void* at, std::size_t bytes, int protection) noexcept {
    const int result = next.mprotect(at, bytes, protection);
    if (protection == PROT_NONE) memory_gone(at, bytes);
    return result;
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    return map(at, bytes, protection, flags, file, offset);
}

void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
    return map(at, bytes, protection, flags, file, offset);
}

void* mremap(void* at, std::size_t bytes, std::size_t new_bytes, int flags, ...) noexcept {
    std::va_list rest;
    va_start(rest, flags);
    void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    void* mapped = next.mremap != nullptr
                       ? next.mremap(at, bytes, new_bytes, flags, wanted)
                       : address_with_errno(system_call(__NR_mremap, at, bytes, new_bytes, flags, wanted));
    memory_gone(at, bytes);
    if (wanted != nullptr) memory_gone(wanted, new_bytes);
    return mapped;
}

}  // extern "C"

#pragma GCC visibility pop
