// A stack of free slots that changes hands whole, between a thread and the depot of a concurrent pool.
//
// Used by acre::slot_cache and acre::slot_depot, not directly. It lies in memory from the pool's upstream, on cache lines
// of its own: the next one may be another thread's.
#pragma once

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstddef>

namespace acre {

/// Free slots that are handed out by one thread.
struct magazine {
    magazine* next;
    std::size_t count;  // of slots in it, while no thread has it loaded
    void* below;        // no slot: lies under the first, where a look at the top of an empty one ends

    /// Cells of the slots, from 1 on; cell 0 is `below`.
    void** cells() noexcept { return &below; }

    /// Bytes of alignment of one.
    static constexpr std::size_t alignment = 64;

    /// Slots that one is made for, where a thread is to keep at most `thread_bytes` bytes of slots of `slot_bytes` bytes in
    /// its two: as many as make it worth the way.
    static constexpr std::size_t capacity(std::size_t slot_bytes, std::size_t thread_bytes) noexcept {
        return std::clamp<std::size_t>(thread_bytes / 2 / slot_bytes, 1, 125);
    }
    /// Bytes of one for `slots` slots: 1 KiB for 125.
    static constexpr std::size_t bytes(std::size_t slots) noexcept {
        return align_up(sizeof(magazine) + slots * sizeof(void*), alignment);
    }
};

}  // namespace acre
