// The system's pages: address space is reserved, made usable, made unusable again, and released. The layer under
// acre::virtual_memory, which says what targets have it; a heap over one reserved range needs nothing else.
//
// Used by the library, not directly. POSIX systems by mmap, Windows by VirtualAlloc. Each function is a system call or
// a few, holds no state, and may be called in any thread. Each returns the system's error number, 0 when it was
// granted. Addresses and sizes are multiples of pages::bytes(), and of a huge page's where huge pages are asked for.
#pragma once

#include <acre/core/alignment.hpp>
#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
// As <windows.h> declares them, without its macros.
extern "C" {
__declspec(dllimport) void* __stdcall VirtualAlloc(void* start, std::size_t bytes, unsigned long type,
                                                   unsigned long protection);
__declspec(dllimport) int __stdcall VirtualFree(void* start, std::size_t bytes, unsigned long type);
__declspec(dllimport) int __stdcall VirtualProtect(void* start, std::size_t bytes, unsigned long protection,
                                                   unsigned long* before);
__declspec(dllimport) int __stdcall VirtualLock(void* start, std::size_t bytes);
__declspec(dllimport) unsigned long __stdcall GetLastError();
__declspec(dllimport) unsigned long long __stdcall GetTickCount64();
}
#else
#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <fcntl.h>
#include <sys/prctl.h>
#endif
#endif

namespace acre::detail {

/// The error number of a system call: of errno, or of GetLastError() on Windows. 0: the call was granted.
using system_code = int;

/// What can be done with pages.
enum class page_access { none, read, read_and_write };

#if defined(_WIN32)

struct pages {
    /// Bytes of a page: the same on each processor that Windows runs on.
    static std::size_t bytes() noexcept { return 4096; }
    /// Bytes of a huge page; 0: huge pages are not supported.
    static std::size_t huge_bytes() noexcept { return 0; }
    static constexpr system_code unsupported = 50;  // ERROR_NOT_SUPPORTED

    /// Sets `start` to address space that nothing can use yet, aligned to `alignment`.
    static system_code reserve(std::size_t bytes, std::size_t alignment, void*& start) noexcept {
        if (alignment <= allocation_granularity) {
            start = VirtualAlloc(nullptr, bytes, reserving, no_access);
            return start != nullptr ? 0 : last_code();
        }
        // Windows releases a reservation only whole: a larger one shows an aligned address that is free. Another thread
        // may take it meanwhile.
        for (int tries = 0; tries < 16; ++tries) {
            void* larger = VirtualAlloc(nullptr, bytes + alignment, reserving, no_access);
            if (larger == nullptr) return last_code();
            VirtualFree(larger, 0, releasing);
            void* aligned = reinterpret_cast<void*>(align_up(reinterpret_cast<std::uintptr_t>(larger), alignment));
            start = VirtualAlloc(aligned, bytes, reserving, no_access);
            if (start != nullptr) return 0;
        }
        return last_code();
    }
    static void release(void* start, std::size_t) noexcept { VirtualFree(start, 0, releasing); }

    /// Makes reserved pages usable; their contents are zero.
    static system_code commit(void* start, std::size_t bytes) noexcept {
        return code_of(VirtualAlloc(start, bytes, committing, read_write) != nullptr);
    }
    static system_code commit_huge(void*, std::size_t) noexcept { return unsupported; }
    /// Gives the memory of pages back to the system; the addresses stay reserved.
    static system_code decommit(void* start, std::size_t bytes) noexcept {
        return code_of(VirtualFree(start, bytes, decommitting) != 0);
    }
    /// Gives the memory of pages back to the system; they stay usable, and their contents are zero.
    static system_code discard(void* start, std::size_t bytes) noexcept {
        const system_code code = decommit(start, bytes);
        return code != 0 ? code : commit(start, bytes);
    }
    static system_code protect(void* start, std::size_t bytes, page_access access) noexcept {
        unsigned long before;
        const unsigned long wanted = access == page_access::none   ? no_access
                                     : access == page_access::read ? read_only
                                                                   : read_write;
        return code_of(VirtualProtect(start, bytes, wanted, &before) != 0);
    }
    /// Keeps committed pages in physical memory.
    static system_code lock(void* start, std::size_t bytes) noexcept { return code_of(VirtualLock(start, bytes) != 0); }
    /// Backs committed pages by memory now.
    static system_code prefault(void* start, std::size_t bytes) noexcept {
        for (std::size_t at = 0; at < bytes; at += pages::bytes()) static_cast<volatile char*>(start)[at] = 0;
        return 0;
    }
    static system_code huge_pages_are_off() noexcept { return unsupported; }
    static system_code advise_huge(void*, std::size_t) noexcept { return unsupported; }
    static void refuse_huge(void*, std::size_t) noexcept {}
    static system_code move(void*, void*, std::size_t) noexcept { return unsupported; }

    /// Milliseconds since some moment.
    static std::uint64_t milliseconds() noexcept { return GetTickCount64(); }

    static const char* meaning_of_reserve(system_code) noexcept { return "the address space is used up: reserve less"; }
    static const char* meaning_of_commit(system_code) noexcept {
        return "the commit limit of the system is reached: enlarge the paging file, or use less";
    }
    static const char* meaning_of_huge(system_code) noexcept {
        return "acre has no huge pages on Windows: leave the option out";
    }
    static const char* meaning_of_lock(system_code) noexcept {
        return "the working set is full: raise it by SetProcessWorkingSetSize";
    }

private:
    static constexpr std::size_t allocation_granularity = 65536;
    static constexpr unsigned long committing = 0x1000, reserving = 0x2000, decommitting = 0x4000, releasing = 0x8000;
    static constexpr unsigned long no_access = 0x01, read_only = 0x02, read_write = 0x04;

    static system_code last_code() noexcept {
        const auto code = static_cast<system_code>(GetLastError());
        return code != 0 ? code : unsupported;
    }
    static system_code code_of(bool granted) noexcept { return granted ? 0 : last_code(); }
};

#else

struct pages {
    /// Bytes of a page.
    static std::size_t bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

    /// Bytes of a huge page; 0: huge pages are not supported.
    static std::size_t huge_bytes() noexcept {
#if defined(__linux__)
        text<4096> memory{"/proc/meminfo"};
        const char* kibibytes = memory.after("Hugepagesize:");
        std::size_t size = 0;
        for (; kibibytes != nullptr && *kibibytes == ' '; ++kibibytes) continue;
        for (; kibibytes != nullptr && *kibibytes >= '0' && *kibibytes <= '9'; ++kibibytes) {
            size = 10 * size + static_cast<std::size_t>(*kibibytes - '0');
        }
        size *= 1024;
        return is_alignment(size) && size > bytes() ? size : 0;
#else
        return 0;
#endif
    }

    /// Sets `start` to address space that nothing can use yet, aligned to `alignment`.
    static system_code reserve(std::size_t bytes, std::size_t alignment, void*& start) noexcept {
        const std::size_t extra = alignment > pages::bytes() ? alignment - pages::bytes() : 0;
        void* mapped = ::mmap(nullptr, bytes + extra, PROT_NONE, reserved_flags, -1, 0);
        if (mapped == MAP_FAILED) return errno;
        const std::size_t front = padding_to(reinterpret_cast<std::uintptr_t>(mapped), alignment);
        auto* aligned = static_cast<std::byte*>(mapped) + front;
        if (front != 0) release(mapped, front);
        if (extra != front) release(aligned + bytes, extra - front);
        leave_out_of_core_files(aligned, bytes);
        start = aligned;
        return 0;
    }
    static void release(void* start, std::size_t bytes) noexcept { ::munmap(start, bytes); }

    /// Makes reserved pages usable; their contents are zero.
    static system_code commit(void* start, std::size_t bytes) noexcept {
        const system_code code = protect(start, bytes, page_access::read_and_write);
        // A filter of system calls may know only those of the C library's malloc.
        if (code == EPERM || code == ENOSYS) [[unlikely]]
            return map_over(start, bytes, PROT_READ | PROT_WRITE, reserved_flags);
#if defined(MADV_DODUMP)
        ::madvise(start, bytes, MADV_DODUMP);
#endif
        return code;
    }
    /// The same with huge pages that the system has set aside. They are taken now: no later access can fail for want of
    /// one, except in a child after a fork.
    static system_code commit_huge([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MAP_HUGETLB) && defined(MREMAP_FIXED)
        // Elsewhere at first: a refused mapping in place would leave a hole in the range, which others could be given.
        void* taken = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (taken == MAP_FAILED) return errno;
        if (::mremap(taken, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, start) != MAP_FAILED) return 0;
        const system_code code = errno;
        release(taken, bytes);
        return code;
#else
        return ENOTSUP;
#endif
    }
    /// Gives the memory of pages back to the system; the addresses stay reserved. A new mapping in place of the old
    /// one: madvise would leave them counted against the system's and the process's limits.
    static system_code decommit(void* start, std::size_t bytes) noexcept {
        const system_code code = map_over(start, bytes, PROT_NONE, reserved_flags);
        if (code == 0) leave_out_of_core_files(start, bytes);
        return code;
    }
    /// Gives the memory of pages back to the system; they stay usable, and their contents are zero.
    static system_code discard(void* start, std::size_t bytes) noexcept {
#if defined(__linux__)
        return ::madvise(start, bytes, MADV_DONTNEED) == 0 ? 0 : errno;
#else
        return map_over(start, bytes, PROT_READ | PROT_WRITE, reserved_flags);
#endif
    }
    static system_code protect(void* start, std::size_t bytes, page_access access) noexcept {
        const int allowed = access == page_access::none   ? PROT_NONE
                            : access == page_access::read ? PROT_READ
                                                          : PROT_READ | PROT_WRITE;
        return ::mprotect(start, bytes, allowed) == 0 ? 0 : errno;
    }
    /// Keeps committed pages in physical memory.
    static system_code lock(void* start, std::size_t bytes) noexcept { return ::mlock(start, bytes) == 0 ? 0 : errno; }

    /// Backs committed pages by memory now.
    static system_code prefault(void* start, std::size_t bytes) noexcept {
#if defined(__linux__)
        constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, of Linux 5.14
        if (::madvise(start, bytes, populate_write) == 0) return 0;
        if (errno != EINVAL) return errno;
#endif
        for (std::size_t at = 0; at < bytes; at += pages::bytes()) static_cast<volatile char*>(start)[at] = 0;
        return 0;
    }

    /// An error where transparent huge pages are switched off, for the system or for this process.
    static system_code huge_pages_are_off() noexcept {
#if defined(__linux__)
        text<64> enabled{"/sys/kernel/mm/transparent_hugepage/enabled"};
        const bool off = enabled.after("[never]") != nullptr || ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1;
        return off ? EPERM : 0;
#else
        return ENOTSUP;
#endif
    }
    /// Asks for transparent huge pages under `bytes` bytes at `start`.
    static system_code advise_huge([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
        return ::madvise(start, bytes, MADV_HUGEPAGE) == 0 ? 0 : errno;
#else
        return ENOTSUP;
#endif
    }

    /// Asks for small pages under `bytes` bytes at `start`, also where the system gives huge ones unasked.
    static void refuse_huge([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MADV_NOHUGEPAGE)
        ::madvise(start, bytes, MADV_NOHUGEPAGE);
#endif
    }

    /// Moves the memory under `bytes` bytes at `from` to `to`, which loses its own. `from` stays usable, and its
    /// contents are zero.
    static system_code move([[maybe_unused]] void* to, [[maybe_unused]] void* from,
                            [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MREMAP_FIXED) && defined(MREMAP_DONTUNMAP)
        return ::mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED ? 0
                                                                                                                : errno;
#else
        return ENOTSUP;
#endif
    }

    /// Milliseconds since some moment, to a few of them.
    static std::uint64_t milliseconds() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
        constexpr clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
        constexpr clockid_t clock = CLOCK_MONOTONIC;
#endif
        timespec now{};
        ::clock_gettime(clock, &now);
        return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
    }

    static const char* meaning_of_reserve(system_code code) noexcept {
        if (code == ENOMEM)
            return "ENOMEM: the limit of address space is reached: raise it (ulimit -v) or reserve less";
        return "the system refused";
    }
    static const char* meaning_of_commit(system_code code) noexcept {
        if (code == ENOMEM) {
            return "ENOMEM: no memory left, or a limit reached (ulimit -d, vm.max_map_count, vm.overcommit_memory)";
        }
        return "the system refused";
    }
    static const char* meaning_of_huge(system_code code) noexcept {
        if (code == ENOMEM) return "ENOMEM: the system set too few aside: raise vm.nr_hugepages";
        if (code == EPERM) return "EPERM: they are off: write madvise to /sys/kernel/mm/transparent_hugepage/enabled";
        return "this system has none: leave the option out";
    }
    static const char* meaning_of_lock(system_code code) noexcept {
        if (code == ENOMEM || code == EPERM || code == EAGAIN) {
            return "more than the limit of locked memory: raise it (ulimit -l) or grant CAP_IPC_LOCK";
        }
        return "the system refused";
    }

private:
#if defined(MAP_NORESERVE)
    static constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
    static constexpr int reserved_flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif

    // Reserved pages hold nothing, but a debugger writes them, too.
    static void leave_out_of_core_files([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MADV_DONTDUMP)
        ::madvise(start, bytes, MADV_DONTDUMP);
#endif
    }

    static system_code map_over(void* start, std::size_t bytes, int allowed, int flags) noexcept {
        return ::mmap(start, bytes, allowed, flags | MAP_FIXED, -1, 0) != MAP_FAILED ? 0 : errno;
    }

#if defined(__linux__)
    /// The beginning of a small file of the system's; empty when it cannot be read.
    template <std::size_t Bytes>
    class text {
    public:
        explicit text(const char* path) noexcept {
            const int file = ::open(path, O_RDONLY | O_CLOEXEC);
            if (file < 0) return;
            const auto got = ::read(file, characters_, Bytes - 1);
            ::close(file);
            if (got > 0) characters_[got] = '\0';
        }
        /// What follows `sought`; null when it is not there.
        const char* after(const char* sought) const noexcept {
            for (const char* at = characters_; *at != '\0'; ++at) {
                const char* end = at;
                const char* each = sought;
                for (; *each != '\0' && *end == *each; ++each) ++end;
                if (*each == '\0') return end;
            }
            return nullptr;
        }

    private:
        char characters_[Bytes] = {};
    };
#endif
};

#endif

}  // namespace acre::detail
