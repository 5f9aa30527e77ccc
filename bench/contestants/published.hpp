// Published designs, re-implemented for measuring from their descriptions. Nothing is copied, and only the parts that a
// workload runs are here. docs/hazards.md lists their defects; those that would stop a workload are left out. Not for
// use.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace bench::published {

/// A book's arena for one class (W1): a pointer moves through one buffer from malloc, and freeing does nothing. As in
/// the book, there is no check for the end of the buffer.
class size_based_arena {
public:
    size_based_arena(std::size_t count, std::size_t size)
        : buffer_{static_cast<std::byte*>(std::malloc(count * size))}, size_{size} {
        if (buffer_ == nullptr) throw std::bad_alloc{};
        at_ = buffer_;
    }
    size_based_arena(const size_based_arena&) = delete;
    size_based_arena& operator=(const size_based_arena&) = delete;
    ~size_based_arena() { std::free(buffer_); }

    void* allocate() noexcept { return std::exchange(at_, at_ + size_); }
    /// Not in the book: resets it between two passes over the same memory.
    void reset() noexcept { at_ = buffer_; }

private:
    std::byte* buffer_;
    std::byte* at_;
    std::size_t size_;
};

/// A book's chunk allocator (W2): for each size, rounded up to a power of two, a pointer moves through one buffer from
/// malloc. Freed chunks are not reused. A full class spills to the next one, and the last one to the heap.
template <std::size_t N, std::size_t... Sizes>
class chunk_allocator {
public:
    chunk_allocator() {
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            auto* start = static_cast<std::byte*>(std::malloc(N * sizes[i]));
            if (start == nullptr) std::abort();
            classes_[i] = {start, start, start + N * sizes[i]};
        }
    }
    chunk_allocator(const chunk_allocator&) = delete;
    chunk_allocator& operator=(const chunk_allocator&) = delete;
    ~chunk_allocator() {
        for (const buffer& each : classes_) std::free(each.start);
    }

    void* allocate(std::size_t bytes) {
        for (std::size_t i = 0; i < classes_.size(); ++i) {
            buffer& each = classes_[i];
            if (bytes >= sizes[i] || each.at == each.end) continue;
            void* p = each.at;
            each.at += sizes[i];
            return p;
        }
        return ::operator new(bytes);
    }

    void deallocate(void* p) noexcept {
        for (const buffer& each : classes_) {
            if (p >= each.start && p < each.end) return;
        }
        ::operator delete(p);
    }

private:
    struct buffer {
        std::byte* start;
        std::byte* at;
        std::byte* end;
    };

    static constexpr std::array<std::size_t, sizeof...(Sizes)> sizes{std::bit_ceil(Sizes)...};

    std::array<buffer, sizeof...(Sizes)> classes_;
};

struct too_large : std::bad_alloc {};
struct out_of_arenas : std::bad_alloc {};

/// The counted multi-arena (W3, W5, W9): equal arenas in one buffer. Allocating moves the active arena's position and
/// increments its count; when the arena is full, an empty one becomes active. Freeing finds the arena by division and
/// decrements its count. An arena with a count of zero is reset, and goes back to the stack of empty ones if it is not
/// active.
class multi_arena final : public std::pmr::memory_resource {
public:
    multi_arena(std::size_t count, std::size_t bytes);

private:
    struct arena {
        std::uint32_t position = 0;
        std::uint32_t live = 0;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    void activate_empty();

    std::size_t bytes_;
    std::unique_ptr<std::byte[]> buffer_;
    std::vector<arena> arenas_;
    std::vector<std::size_t> empty_;
    std::size_t active_;
};

/// The same for threads (W4): each arena's position and count are atomic. An allocating thread adds to the active
/// arena's position. If that exceeds the arena, the thread replaces it by an empty arena, one thread at a time.
/// Allocation holds the lock shared; a change of the active arena holds it exclusively.
class synchronized_multi_arena final : public std::pmr::memory_resource {
public:
    synchronized_multi_arena(std::size_t count, std::size_t bytes);

private:
    struct arena {
        std::atomic<std::uint32_t> position = 0;
        std::atomic<std::uint32_t> live = 0;
        bool is_empty = false;  // on the stack of empty ones
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    void* take(std::size_t bytes) noexcept;
    void reclaim(std::size_t index);

    std::size_t bytes_;
    std::unique_ptr<std::byte[]> buffer_;
    std::vector<arena> arenas_;
    std::vector<std::size_t> empty_;
    std::size_t active_;
    std::shared_mutex changing_arenas_;
};

}  // namespace bench::published
