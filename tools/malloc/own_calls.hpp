// System calls of the library's own, where another library may stand in front of the C library's functions: a
// clock_gettime that allocates, as libfaketime's, would call malloc inside malloc. Included in front of each file of
// the library, so that its headers and acre's call these.
#pragma once

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__)) && \
    !defined(_FILE_OFFSET_BITS) && !defined(_TIME_BITS)
#define ACRE_OWN_CALLS
#define clock_gettime acre_clock_gettime
#define madvise acre_madvise
#define mmap acre_mmap
#define mprotect acre_mprotect
#define mremap acre_mremap
#define munmap acre_munmap
#define syscall acre_syscall
#define sysconf acre_sysconf
#endif
