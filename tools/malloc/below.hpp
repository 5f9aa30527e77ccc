// The malloc below this library's: the C library's, or another preloaded or linked one. It serves what a plan leaves to
// it (docs/plan.md), and takes back what a module got from it that was loaded with RTLD_DEEPBIND.
#pragma once

#include <cstddef>

namespace acre::preload {

struct malloc_below {
    void* (*malloc)(std::size_t) = nullptr;
    void* (*calloc)(std::size_t, std::size_t) = nullptr;
    void* (*realloc)(void*, std::size_t) = nullptr;
    void* (*memalign)(std::size_t, std::size_t) = nullptr;
    std::size_t (*usable_size)(void*) = nullptr;
    void (*free)(void*) = nullptr;
};

/// What to ask the memalign below for: jemalloc's is not aligned where no bytes are asked for.
constexpr std::size_t bytes_for_memalign(std::size_t bytes) noexcept {
    return bytes == 0 ? 1 : bytes;
}

#ifdef ACRE_MALLOC_PRELOADED

inline constinit malloc_below below;

/// Finds the functions of the malloc below, for good. False where there is none. Any thread, more than once.
bool find_malloc_below() noexcept;

/// The malloc below if blocks of it may come here; null: each block is one of the heap's, or a mistake.
inline const malloc_below* whose_blocks_may_come() noexcept {
    return __atomic_load_n(&below.free, __ATOMIC_ACQUIRE) != nullptr ? &below : nullptr;
}

#else

constexpr const malloc_below* whose_blocks_may_come() noexcept {
    return nullptr;
}

#endif

}  // namespace acre::preload
