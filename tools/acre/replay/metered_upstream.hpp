// The upstream of a replayed resource: takes memory from malloc, counts it, and refuses to go beyond a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "system_resource.hpp"

namespace acre::tool {

/// An acre resource, and through memory() a std::pmr one.
class metered_upstream {
public:
    explicit metered_upstream(std::uint64_t limit) : memory_{*this}, limit_{limit} {}
    metered_upstream(const metered_upstream&) = delete;
    metered_upstream& operator=(const metered_upstream&) = delete;

    void* allocate(std::size_t bytes, std::size_t alignment) {
        void* made = try_allocate(bytes, alignment);
        if (made == nullptr) throw std::bad_alloc{};
        return made;
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes > limit_ - held_) return nullptr;
        void* made = system_resource{}.try_allocate(bytes, alignment);
        if (made == nullptr) return nullptr;
        held_ += bytes;
        if (held_ > peak_) peak_ = held_;
        return made;
    }
    void deallocate(void* p, std::size_t bytes, std::size_t) noexcept {
        if (p == nullptr) return;
        held_ -= bytes;
        std::free(p);
    }

    std::pmr::memory_resource* memory() noexcept { return &memory_; }
    std::uint64_t peak() const noexcept { return peak_; }

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

    polymorphic memory_;
    std::uint64_t limit_;
    std::uint64_t held_ = 0;
    std::uint64_t peak_ = 0;
};

}  // namespace acre::tool
