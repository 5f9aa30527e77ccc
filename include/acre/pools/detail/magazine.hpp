// A stack of free slots that changes hands whole, between a thread and the depot of a concurrent pool.
//
// Used by acre::thread_cache and acre::magazine_depot, not directly. It lies in memory from the pool's upstream, on
// cache lines of its own: the next one may be another thread's.
#pragma once

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>

namespace acre::detail {

/// Free slots that are handed out by one thread.
struct magazine {
    magazine* next;
    std::size_t count;  // of slots in it, while no thread has it loaded
    void* below;        // no slot: lies under the first, where a look at the top of an empty one ends

    /// Cells of the slots, from 1 on; cell 0 is `below`.
    void** cells() noexcept { return &below; }

    /// Asks for all cache lines of a full one, which another thread has written, at once: one by one the thread would
    /// wait for each.
    void fetch(std::size_t slots) noexcept {
        for_each_line(slots, [](void** first) { __builtin_prefetch(first); });
    }
    /// The same for an empty one, which this thread is going to write. A store does that on every processor;
    /// prefetching for it does not.
    void claim(std::size_t slots) noexcept {
        for_each_line(slots, [](void** first) { *first = nullptr; });
    }

    /// Bytes of alignment of one.
    static constexpr std::size_t alignment = 64;

    /// Slots that one is made for, where a thread is to keep at most `thread_bytes` bytes of slots of `slot_bytes`
    /// bytes in its two: as many as make it worth the way.
    static constexpr std::size_t capacity(std::size_t slot_bytes, std::size_t thread_bytes) noexcept {
        return std::clamp<std::size_t>(thread_bytes / 2 / slot_bytes, 1, 509);
    }
    /// Bytes of one for `slots` slots: 4 KiB for 509.
    static constexpr std::size_t bytes(std::size_t slots) noexcept {
        return align_up(sizeof(magazine) + slots * sizeof(void*), alignment);
    }

private:
    // The first cell in each line but that of the header.
    template <class Visit>
    void for_each_line(std::size_t slots, Visit visit) noexcept {
        constexpr std::size_t in_a_line = alignment / sizeof(void*);
        constexpr std::size_t in_the_first = in_a_line - 2;
        for (std::size_t cell = in_the_first; cell <= slots; cell += in_a_line) visit(cells() + cell);
    }
};

}  // namespace acre::detail
