#include "own_calls.hpp"

#ifdef ACRE_OWN_CALLS

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <concepts>
#include <cstdarg>
#include <cstdint>
#include <cstring>

namespace {

long in_kernel(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
    register long in_r10 asm("r10") = d;
    register long in_r8 asm("r8") = e;
    register long in_r9 asm("r9") = f;
    asm volatile("syscall"
                 : "+a"(number)
                 : "D"(a), "S"(b), "d"(c), "r"(in_r10), "r"(in_r8), "r"(in_r9)
                 : "rcx", "r11", "memory");
    return number;
#else
    register long in_x8 asm("x8") = number;
    register long in_x0 asm("x0") = a;
    register long in_x1 asm("x1") = b;
    register long in_x2 asm("x2") = c;
    register long in_x3 asm("x3") = d;
    register long in_x4 asm("x4") = e;
    register long in_x5 asm("x5") = f;
    asm volatile("svc 0"
                 : "+r"(in_x0)
                 : "r"(in_x1), "r"(in_x2), "r"(in_x3), "r"(in_x4), "r"(in_x5), "r"(in_x8)
                 : "memory");
    return in_x0;
#endif
}

long with_errno(long result) noexcept {
    if (result < 0 && result > -4096) {
        errno = static_cast<int>(-result);
        return -1;
    }
    return result;
}

template <std::integral Value>
long as_long(Value value) noexcept {
    return static_cast<long>(value);
}
long as_long(const void* value) noexcept {
    return reinterpret_cast<long>(value);
}

template <class... Arguments>
long call(long number, Arguments... arguments) noexcept {
    const long all[6] = {as_long(arguments)...};
    return with_errno(in_kernel(number, all[0], all[1], all[2], all[3], all[4], all[5]));
}

using clock_function = int (*)(clockid_t, timespec*);

int ask_the_kernel(clockid_t clock, timespec* now) noexcept {
    return static_cast<int>(call(SYS_clock_gettime, clock, now));
}

/// The kernel's function in the page that it maps into each process, which needs no system call.
clock_function find_clock() noexcept {
    const auto file = static_cast<std::uintptr_t>(getauxval(AT_SYSINFO_EHDR));
    if (file == 0) return &ask_the_kernel;
    const auto& head = *reinterpret_cast<const ElfW(Ehdr)*>(file);
    const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(file + head.e_phoff);
    std::uintptr_t moved_by = file;
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < head.e_phnum; ++i, ++segment) {
        if (segment->p_type == PT_LOAD) moved_by = file + segment->p_offset - segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(file + segment->p_offset);
    }
    std::uintptr_t symbols = 0;
    std::uintptr_t names = 0;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) symbols = moved_by + entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB) names = moved_by + entry->d_un.d_ptr;
    }
    // The names follow the symbols.
    for (std::uintptr_t at = symbols; at != 0 && at + sizeof(ElfW(Sym)) <= names; at += sizeof(ElfW(Sym))) {
        const auto& symbol = *reinterpret_cast<const ElfW(Sym)*>(at);
        const auto* const name = reinterpret_cast<const char*>(names + symbol.st_name);
        if (symbol.st_shndx != SHN_UNDEF &&
            (std::strcmp(name, "__vdso_clock_gettime") == 0 || std::strcmp(name, "__kernel_clock_gettime") == 0))
            return reinterpret_cast<clock_function>(moved_by + symbol.st_value);
    }
    return &ask_the_kernel;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
    static clock_function known = nullptr;
    clock_function function = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (function == nullptr) {
        function = find_clock();
        __atomic_store_n(&known, function, __ATOMIC_RELAXED);
    }
    return function(clock, now);
}

int madvise(void* start, std::size_t bytes, int advice) noexcept {
    return static_cast<int>(call(SYS_madvise, start, bytes, advice));
}

void* mmap(void* start, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    return reinterpret_cast<void*>(call(SYS_mmap, start, bytes, protection, flags, file, offset));
}

int mprotect(void* start, std::size_t bytes, int protection) noexcept {
    return static_cast<int>(call(SYS_mprotect, start, bytes, protection));
}

void* mremap(void* start, std::size_t bytes, std::size_t new_bytes, int flags, ...) noexcept {
    std::va_list rest;
    va_start(rest, flags);
    void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return reinterpret_cast<void*>(call(SYS_mremap, start, bytes, new_bytes, flags, to));
}

int munmap(void* start, std::size_t bytes) noexcept {
    return static_cast<int>(call(SYS_munmap, start, bytes));
}

long syscall(long number, ...) noexcept {
    long a[6];
    std::va_list all;
    va_start(all, number);
    for (long& each : a) each = va_arg(all, long);
    va_end(all);
    return with_errno(in_kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

// The size of a page is all that the library asks for.
long sysconf(int) noexcept {
    return static_cast<long>(getauxval(AT_PAGESZ));
}

}  // extern "C"

#endif
