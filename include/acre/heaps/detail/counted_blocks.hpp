// Blocks for acre::general_heap's counted groups: a pointer moves forward, frees are counted, and a block is used again
// from its beginning when nothing in it is live. What outlives the others costs memory, and is never overwritten.
//
// Used by the library, not directly. A block belongs to the thread that took it, which counts its own frees without
// atomic operations; other threads count theirs in another word of the block. So only the owner uses a block again. A
// block whose owner has left it, because the thread ends or its group is evicted, is given back by whoever frees the
// last object in it. Eight bytes before each object hold its size.
//
// Cost: take about 8 instructions; free about 12 by the owner, one atomic operation by another thread.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

struct counted_cursor;

/// A block, at its own beginning.
class alignas(64) counted_block {
public:
    static constexpr std::uint32_t units = 4;
    static constexpr std::size_t bytes = units * heap_classes::unit_bytes;  // also its alignment
    static constexpr std::size_t largest = 4_KiB;                           // larger objects would leave much unused

    /// Of the thread that has `owner`, which no other thread has, and this cursor.
    counted_block(const void* owner, counted_cursor& cursor) noexcept : cursor_{&cursor}, owner_{owner} {}

    static counted_block& of(const void* p) noexcept {
        return *reinterpret_cast<counted_block*>(reinterpret_cast<std::uintptr_t>(p) & ~std::uintptr_t{bytes - 1});
    }

    /// Bytes that may be used of the object at `p`.
    static std::size_t bytes_of(const void* p) noexcept {
        return narrowed<std::size_t>(head(p) & ~was_freed) - head_bytes;
    }

    /// False for an object that was freed, until its block is used again.
    bool is_live(const void* p) const noexcept { return (head(p) & was_freed) == 0; }

    /// Counts a free. True when the block must be given back to the range.
    bool free(void* p, const void* thread) noexcept;

    std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this) + first; }
    std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }

    /// For the owner: whether nothing is live.
    bool is_empty() const noexcept { return in_use_ == freed_elsewhere_.load(std::memory_order_acquire); }
    std::size_t live_bytes() const noexcept {
        return (in_use_ - freed_elsewhere_.load(std::memory_order_relaxed)) % one_object;
    }
    /// For the owner of an empty block.
    void clear() noexcept {
        in_use_ = 0;
        freed_elsewhere_.store(0, std::memory_order_relaxed);
    }
    void add(std::size_t object_bytes) noexcept { in_use_ += one_object + object_bytes; }

    /// For the owner, which has the block no longer. True when it must be given back.
    bool leave() noexcept {
        owner_.store(nullptr, std::memory_order_relaxed);
        return freed_elsewhere_.fetch_or(is_left, std::memory_order_acq_rel) == in_use_;
    }

    /// Writes the size in front of the object that begins at `at` + 8.
    static void set_head(std::byte* at, std::size_t object_bytes) noexcept {
        *reinterpret_cast<std::uint64_t*>(at) = object_bytes;
    }

    static constexpr std::size_t head_bytes = 8;

private:
    // Objects in the upper half, their bytes in the lower.
    static constexpr std::uint64_t one_object = std::uint64_t{1} << 32;
    static constexpr std::uint64_t is_left = std::uint64_t{1} << 63;
    static constexpr std::uint64_t was_freed = 1;
    // The first object is aligned.
    static constexpr std::size_t first = 64 + 16 - head_bytes;

    static std::uint64_t head(const void* p) noexcept { return *(static_cast<const std::uint64_t*>(p) - 1); }

    friend counted_cursor;

    counted_cursor* cursor_;         // of the owner
    counted_block* next_ = nullptr;  // in the owner's list
    counted_block* previous_ = nullptr;
    std::atomic<const void*> owner_;
    std::uint64_t in_use_ = 0;  // taken, without what the owner has freed
    std::atomic<std::uint64_t> freed_elsewhere_{0};
};

/// Where a thread is in its blocks of one group.
struct counted_cursor {
    std::byte* position = nullptr;
    std::byte* end = nullptr;
    counted_block* current = nullptr;
    counted_block* others = nullptr;  // full ones, and at most `max_spare` empty ones
    std::uint32_t blocks = 0;
    std::uint32_t spare = 0;       // empty ones among the others, by the owner's frees
    std::uint32_t checked_at = 3;  // blocks

    static constexpr std::uint32_t max_spare = 2;
    static constexpr int max_looked_at = 8;

    static constexpr std::size_t object_bytes(std::size_t bytes) noexcept {
        return align_up(detail::max<std::size_t>(bytes, 1) + counted_block::head_bytes, 16);
    }

    [[gnu::always_inline]] void* take(std::size_t bytes) noexcept {
        const std::size_t taken = object_bytes(bytes);
        if (taken > static_cast<std::size_t>(end - position)) [[unlikely]]
            return nullptr;
        std::byte* const at = position;
        position += taken;
        counted_block::set_head(at, taken);
        current->add(taken);
        return at + counted_block::head_bytes;
    }

    void begin(counted_block& block) noexcept {
        if (current != nullptr) link(*current);
        ++blocks;
        start(block);
    }

    /// Makes an empty block the current one. False when there is none.
    bool next_empty() noexcept {
        if (current != nullptr && current->is_empty()) {
            current->clear();
            start(*current);
            return true;
        }
        counted_block* block = others;
        for (int looks = 0; block != nullptr && !block->is_empty(); block = block->next_) {
            if (++looks == max_looked_at) return false;
        }
        if (block == nullptr) return false;
        unlink(*block);
        block->clear();
        if (current != nullptr) link(*current);
        if (spare != 0) --spare;
        start(*block);
        return true;
    }

    /// Whether the blocks hold more than 4/3 of the bytes in use. Looks when there are an eighth more than last time.
    /// What is live when the group is given up may stay in them for long, beside what the program asks for later: so a
    /// wrong plan may take little here. Where several threads have blocks of the group, each of them would take three
    /// before the first look, so two are looked at: objects that die in the order of their allocation need a third only
    /// while they nearly fill one. (One thread's two blocks are left alone: giving them up made programs of one thread
    /// slower.)
    bool is_sparse(bool in_several_threads) noexcept {
        if (blocks < checked_at && !(blocks == 2 && in_several_threads)) return false;
        if (blocks >= checked_at) checked_at = blocks + blocks / 8 + 1;
        std::size_t live = current != nullptr ? current->live_bytes() : 0;
        for (const counted_block* each = others; each != nullptr; each = each->next_) live += each->live_bytes();
        if (blocks == 2) return live < counted_block::bytes - 2 * counted_block::largest;
        return 3 * std::size_t{blocks} * counted_block::bytes > 4 * live;
    }

    /// The owner has freed the last object of a block that is not the current one. True when it need not be kept.
    bool has_emptied(counted_block& block) noexcept {
        if (spare < max_spare) {
            ++spare;
            // To the front, where it is found.
            unlink(block);
            link(block);
            return false;
        }
        unlink(block);
        --blocks;
        return true;
    }

    /// Leaves all blocks; `give(block)` is called for those that must be given back.
    template <class Give>
    void leave(Give give) noexcept {
        if (current != nullptr) link(*current);
        for (counted_block* each = others; each != nullptr;) {
            counted_block& block = *each;
            each = block.next_;
            if (block.leave()) give(block);
        }
        *this = counted_cursor{};
    }

private:
    void start(counted_block& block) noexcept {
        current = &block;
        position = block.begin();
        end = block.end();
    }
    void link(counted_block& block) noexcept {
        block.previous_ = nullptr;
        block.next_ = others;
        if (others != nullptr) others->previous_ = &block;
        others = &block;
    }
    void unlink(counted_block& block) noexcept {
        (block.previous_ != nullptr ? block.previous_->next_ : others) = block.next_;
        if (block.next_ != nullptr) block.next_->previous_ = block.previous_;
    }
};

inline bool counted_block::free(void* p, const void* thread) noexcept {
    std::uint64_t& before = *(static_cast<std::uint64_t*>(p) - 1);
    const std::uint64_t object = one_object + before;
    before |= was_freed;
    if (owner_.load(std::memory_order_relaxed) == thread) {
        in_use_ -= object;
        return cursor_->current != this && is_empty() && cursor_->has_emptied(*this);
    }
    const std::uint64_t freed = freed_elsewhere_.fetch_add(object, std::memory_order_acq_rel) + object;
    return (freed & is_left) != 0 && (freed & ~is_left) == in_use_;
}

struct counted_cursors {
    static constexpr std::size_t count = 32;
    counted_cursor of[count];
};
struct no_counted_cursors {};

}  // namespace acre::detail

#endif
