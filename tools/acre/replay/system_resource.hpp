// The C library's malloc and C++'s operator new as resources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace acre::tool {

inline constexpr std::size_t malloc_alignment = alignof(std::max_align_t);

/// operator new and delete, which most standard libraries build on malloc.
struct new_delete_resource {
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        // Not the form that gives null: it is slower, and few programs call it.
        try {
            return alignment <= malloc_alignment ? ::operator new(bytes)
                                                 : ::operator new(bytes, std::align_val_t{alignment});
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= malloc_alignment) return ::operator delete(p, bytes);
        ::operator delete(p, bytes, std::align_val_t{alignment});
    }
};

/// malloc, realloc and free; operator new and delete for what a program allocated with them.
struct system_resource {
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= malloc_alignment) return std::malloc(bytes);
        void* made = nullptr;
        return ::posix_memalign(&made, alignment, bytes) == 0 ? made : nullptr;
    }
    void deallocate(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
    void* try_allocate_new(std::size_t bytes, std::size_t alignment) noexcept {
        return new_delete_resource{}.try_allocate(bytes, alignment);
    }
    void deallocate_new(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        new_delete_resource{}.deallocate(p, bytes, alignment);
    }
    void* try_reallocate(void* p, std::size_t had_bytes, std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment > malloc_alignment) return move_aligned(p, had_bytes, bytes, alignment);
        // realloc to 0 bytes frees, which a trace tells as a free.
        // Hidden from compilers, which warn that operator delete may be given what realloc was.
        asm("" : "+r"(p));
        void* made = std::realloc(p, bytes == 0 ? 1 : bytes);
        asm("" : "+r"(made));
        return made;
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
