// Allocators that a programmer writes in an afternoon: a bare free list, a bump pointer, and an arena as in blogs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "../peers/footprint.hpp"

namespace bench {

/// A bare intrusive free list: a free slot holds the address of the next. Blocks of slots double.
class free_list {
public:
    explicit free_list(std::size_t slot_bytes) : slot_bytes_{std::max(slot_bytes, sizeof(node))} {}
    free_list(const free_list&) = delete;
    free_list& operator=(const free_list&) = delete;

    void* allocate() {
        if (first_ == nullptr) [[unlikely]] {
            grow();
        }
        node* slot = first_;
        first_ = slot->next;
        return slot;
    }

    void deallocate(void* p) noexcept { first_ = new (p) node{first_}; }

    [[nodiscard]] const upstream_counts& counts() const noexcept { return counts_; }

private:
    struct node {
        node* next;
    };

    [[gnu::noinline]] void grow() {
        const std::size_t bytes = slot_bytes_ * block_slots_;
        blocks_.push_back(std::make_unique<std::byte[]>(bytes));
        counts_.take(bytes);
        for (std::size_t i = block_slots_; i > 0; --i) deallocate(blocks_.back().get() + (i - 1) * slot_bytes_);
        block_slots_ *= 2;
    }

    node* first_ = nullptr;
    std::size_t slot_bytes_;
    std::size_t block_slots_ = 32;
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    upstream_counts counts_;
};

/// The minimal growing arena: a position, an end, and blocks that are kept at reset.
class bump_pointer {
public:
    void* allocate(std::size_t bytes) {
        const std::size_t rounded = (bytes + 7) & ~std::size_t{7};
        if (static_cast<std::size_t>(end_ - at_) < rounded) [[unlikely]] {
            next_block();
        }
        return std::exchange(at_, at_ + rounded);
    }

    void reset() noexcept {
        used_blocks_ = 0;
        at_ = end_ = nullptr;
    }

private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 20;

    [[gnu::noinline]] void next_block() {
        if (used_blocks_ == blocks_.size()) blocks_.emplace_back(new std::byte[block_bytes]);
        at_ = blocks_[used_blocks_++].get();
        end_ = at_ + block_bytes;
    }

    std::byte* at_ = nullptr;
    std::byte* end_ = nullptr;
    std::size_t used_blocks_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

/// An arena as in blogs: one buffer, std::align, a list of destructors to run.
class blog_arena {
public:
    explicit blog_arena(std::size_t bytes = std::size_t{4} << 20) : memory_{new std::byte[bytes]}, capacity_{bytes} {}

    void* allocate(std::size_t bytes, std::size_t alignment) {
        void* at = memory_.get() + used_;
        std::size_t space = capacity_ - used_;
        if (std::align(alignment, bytes, at, space) == nullptr) throw std::bad_alloc{};
        used_ = capacity_ - space + bytes;
        return at;
    }

    template <class T, class... Args>
    T* create(Args&&... args) {
        T* object = new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
        last_ = new (allocate(sizeof(finaliser), alignof(finaliser)))
            finaliser{[](void* p) { static_cast<T*>(p)->~T(); }, object, last_};
        return object;
    }

    void reset() {
        for (; last_ != nullptr; last_ = last_->previous) last_->destroy(last_->object);
        used_ = 0;
    }

private:
    struct finaliser {
        void (*destroy)(void*);
        void* object;
        finaliser* previous;
    };

    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;
    std::size_t used_ = 0;
    finaliser* last_ = nullptr;
};

/// The blog arena as a container's allocator.
template <class T>
struct blog_allocator {
    using value_type = T;

    explicit blog_allocator(blog_arena& arena) noexcept : from{&arena} {}
    template <class U>
    explicit(false) blog_allocator(const blog_allocator<U>& other) noexcept : from{other.from} {}

    T* allocate(std::size_t n) { return static_cast<T*>(from->allocate(n * sizeof(T), alignof(T))); }
    void deallocate(T*, std::size_t) noexcept {}
    bool operator==(const blog_allocator&) const noexcept = default;

    blog_arena* from;
};

}  // namespace bench
