// The C library's malloc and C++'s operator new as resources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace acre::tool {

inline constexpr std::size_t malloc_alignment = alignof(std::max_align_t);

/// malloc, realloc and free.
struct system_resource {
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= malloc_alignment) return std::malloc(bytes);
        void* made = nullptr;
        return ::posix_memalign(&made, alignment, bytes) == 0 ? made : nullptr;
    }
    void deallocate(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
    void* try_reallocate(void* p, std::size_t had_bytes, std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment > malloc_alignment) return move_aligned(p, had_bytes, bytes, alignment);
        // realloc to 0 bytes frees, which a trace tells as a free.
        return std::realloc(p, bytes == 0 ? 1 : bytes);
    }

private:
    /// realloc knows of no alignment.
    void* move_aligned(void* p, std::size_t had_bytes, std::size_t bytes, std::size_t alignment) noexcept {
        void* made = try_allocate(bytes, alignment);
        if (made == nullptr) return nullptr;
        std::memcpy(made, p, std::min(had_bytes, bytes));
        std::free(p);
        return made;
    }
};

/// operator new and delete, which most standard libraries build on malloc.
struct new_delete_resource {
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= malloc_alignment) return ::operator new(bytes, std::nothrow);
        return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= malloc_alignment) return ::operator delete(p, bytes);
        ::operator delete(p, bytes, std::align_val_t{alignment});
    }
};

/// Gives the same storage for every request: what is left is the cost of the loop.
class no_resource {
public:
    void* try_allocate(std::size_t, std::size_t) noexcept { return &storage_; }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
    void* try_reallocate(void* p, std::size_t, std::size_t, std::size_t) noexcept { return p; }

private:
    unsigned char storage_ = 0;
};

}  // namespace acre::tool
