// System calls for the recorder: without malloc, errno and functions that a program can replace.
#pragma once

#include <asm/unistd.h>
#include <sched.h>
#include <sys/mman.h>
#include <x86intrin.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace acre::recorder {

template <typename T>
inline long as_word(T value) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<long>(value);
    } else {
        return static_cast<long>(value);
    }
}

/// Makes a system call; returns its value, or -errno.
template <typename... Arguments>
inline long system_call(long number, Arguments... arguments) {
    static_assert(sizeof...(arguments) <= 6);
    const long all[6] = {as_word(arguments)...};
    long result = number;
    register long r10 asm("r10") = all[3];
    register long r8 asm("r8") = all[4];
    register long r9 asm("r9") = all[5];
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(all[0]), "S"(all[1]), "d"(all[2]), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

inline void* map_pages(std::size_t bytes, int protection, int flags, int file, std::uint64_t offset) {
    const long result = system_call(__NR_mmap, 0, bytes, protection, flags, file, offset);
    return result < 0 ? nullptr : reinterpret_cast<void*>(result);
}

/// Zeroed pages; null if out of memory.
inline void* take_pages(std::size_t bytes) {
    return map_pages(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/// As take_pages, but zeroed again in a forked child: the zeros tell the child that it was forked.
inline void* take_pages_of_process(std::size_t bytes) {
    void* pages = take_pages(bytes);
    if (pages != nullptr && system_call(__NR_madvise, pages, bytes, MADV_WIPEONFORK) < 0) {
        system_call(__NR_munmap, pages, bytes);
        return nullptr;
    }
    return pages;
}

/// Whether the 8 bytes at an address can be read, without a fault: the kernel reads the new signal mask before it
/// rejects the invalid first argument.
inline bool can_read(std::uintptr_t address) {
    return system_call(__NR_rt_sigprocmask, -1, address, 0, 8) == -EINVAL;
}

inline std::uint64_t ticks() {
    return __rdtsc();
}

/// For locks that are rarely taken and briefly held; zeroed memory is unlocked.
class spin_lock {
public:
    void lock() {
        while (taken_.exchange(true, std::memory_order_acquire)) system_call(__NR_sched_yield);
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_;
};

class lock_guard {
public:
    explicit lock_guard(spin_lock& lock) : lock_(lock) { lock_.lock(); }
    ~lock_guard() { lock_.unlock(); }
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;

private:
    spin_lock& lock_;
};

}  // namespace acre::recorder
