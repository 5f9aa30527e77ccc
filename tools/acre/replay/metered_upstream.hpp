// The upstream of a replayed resource: takes memory from malloc, counts it, and refuses to go beyond a limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "system_resource.hpp"

namespace acre::tool {

/// An acre resource, and through memory() a std::pmr one. Shared: several threads may use it at the same time.
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

    // Relaxed all: numbers by which nothing is found. One thread needs no read-modify-write, which costs more than the
    // rest of a small allocation.
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
