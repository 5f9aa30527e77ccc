// The C library's malloc and C++'s operator new as resources, and the upstream of all other replayed resources.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <new>

namespace acre::tool {

inline constexpr std::size_t malloc_alignment = alignof(std::max_align_t);

/// operator new and delete, which most standard libraries build on malloc.
struct new_delete_resource {
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        // The nothrow form is slower, and few programs call it.
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

/// malloc, realloc and free. Operator new and delete for what the recorded program allocated with them.
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
        // realloc to 0 bytes would free; a trace has a free instead.
        // The asm statements hide p from the compiler, which else warns that operator delete may get it.
        asm("" : "+r"(p));
        void* made = std::realloc(p, bytes == 0 ? 1 : bytes);
        asm("" : "+r"(made));
        return made;
    }

private:
    /// realloc does not keep an alignment stricter than malloc_alignment.
    void* move_aligned(void* p, std::size_t had_bytes, std::size_t bytes, std::size_t alignment) noexcept {
        void* made = try_allocate(bytes, alignment);
        if (made == nullptr) return nullptr;
        std::memcpy(made, p, std::min(had_bytes, bytes));
        std::free(p);
        return made;
    }
};

/// Returns the same storage for every request, so that a replay costs only its own loop.
class no_resource {
public:
    void* try_allocate(std::size_t, std::size_t) noexcept { return &storage_; }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
    void* try_reallocate(void* p, std::size_t, std::size_t, std::size_t) noexcept { return p; }

private:
    unsigned char storage_ = 0;
};

/// The upstream of a replayed resource: takes memory from malloc, counts it and refuses to exceed a limit. memory() is
/// the same as a std::pmr resource. `shared`: several threads may use it at the same time.
class metered_upstream {
public:
    metered_upstream(std::uint64_t limit, bool shared) : memory_{*this}, limit_{limit}, shared_{shared} {}
    metered_upstream(const metered_upstream&) = delete;
    metered_upstream& operator=(const metered_upstream&) = delete;

    void* allocate(std::size_t bytes, std::size_t alignment) {
        void* made = try_allocate(bytes, alignment);
        if (made == nullptr) throw std::bad_alloc{};
        return made;
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (!take(bytes)) return nullptr;
        void* made = system_resource{}.try_allocate(bytes, alignment);
        if (made == nullptr) give_back(bytes);
        return made;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t) noexcept {
        if (p == nullptr) return;
        give_back(bytes);
        std::free(p);
    }

    std::pmr::memory_resource* memory() noexcept { return &memory_; }
    std::uint64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

private:
    class polymorphic : public std::pmr::memory_resource {
    public:
        explicit polymorphic(metered_upstream& upstream) : upstream_{upstream} {}

    private:
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            return upstream_.allocate(bytes, alignment);
        }
        void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
            upstream_.deallocate(p, bytes, alignment);
        }
        bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

        metered_upstream& upstream_;
    };

    // All relaxed: the counters publish no other data. One thread needs no read-modify-write, which would cost more
    // than the rest of a small allocation.
    bool take(std::size_t bytes) noexcept {
        std::uint64_t held = held_.load(std::memory_order_relaxed);
        do {
            if (bytes > limit_ - held) return false;
            if (!shared_) held_.store(held + bytes, std::memory_order_relaxed);
        } while (shared_ && !held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
        note_peak(held + bytes);
        return true;
    }

    void note_peak(std::uint64_t held) noexcept {
        std::uint64_t peak = peak_.load(std::memory_order_relaxed);
        while (held > peak && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
        }
    }

    void give_back(std::size_t bytes) noexcept {
        if (shared_) {
            held_.fetch_sub(bytes, std::memory_order_relaxed);
        } else {
            held_.store(held_.load(std::memory_order_relaxed) - bytes, std::memory_order_relaxed);
        }
    }

    polymorphic memory_;
    std::uint64_t limit_;
    bool shared_;
    std::atomic<std::uint64_t> held_{0};
    std::atomic<std::uint64_t> peak_{0};
};

}  // namespace acre::tool
