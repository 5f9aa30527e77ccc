// What the target has, by the compiler's own macros: ACRE_HAS_THREADS is 1 where std::mutex and thread_local work, and
// ACRE_HAS_STANDARD_ERROR is 1 where an operating system has a place for a line of text. ACRE_HAS_VIRTUAL_MEMORY is 1
// where pages can be reserved and made usable later. ACRE_HAS_GENERAL_HEAP is 1 where acre::general_heap works. Nothing
// here is to be set.
//
// Used by acre's headers, not directly. docs/targets.md says what there is without each of them.
#pragma once

#include <cstddef>

// libstdc++ has no std::mutex without a thread model, for example for MinGW's "win32" threads.
#if !defined(__STDCPP_THREADS__) || (defined(__GLIBCXX__) && !defined(_GLIBCXX_HAS_GTHREADS))
#define ACRE_HAS_THREADS 0
#else
#define ACRE_HAS_THREADS 1
#endif

// On what each library and the program have of their own, although it is inline.
#if defined(__ELF__) || defined(__APPLE__)
#define ACRE_OF_THIS_LIBRARY [[gnu::visibility("hidden")]]
#else
#define ACRE_OF_THIS_LIBRARY
#endif

#if ACRE_HAS_THREADS || defined(__unix__) || defined(__APPLE__) || defined(_WIN32) || defined(__wasi__)
#define ACRE_HAS_STANDARD_ERROR 1
#else
#define ACRE_HAS_STANDARD_ERROR 0
#endif

#if defined(_WIN32)
#define ACRE_HAS_VIRTUAL_MEMORY 1
#elif (defined(__unix__) || defined(__APPLE__)) && __has_include(<sys/mman.h>)
#define ACRE_HAS_VIRTUAL_MEMORY 1
#else
#define ACRE_HAS_VIRTUAL_MEMORY 0
#endif

// The heap of the process needs pages, threads and their destructors by POSIX.
#if ACRE_HAS_VIRTUAL_MEMORY && ACRE_HAS_THREADS && !defined(_WIN32) && __has_include(<pthread.h>)
#define ACRE_HAS_GENERAL_HEAP 1
#else
#define ACRE_HAS_GENERAL_HEAP 0
#endif
