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

    /// Slots that fit into one, for slots of `slot_bytes` bytes: as many as make it worth the way, and no more than a
    /// thread should keep to itself.
    static constexpr std::size_t capacity(std::size_t slot_bytes) noexcept {
        return std::clamp<std::size_t>(32 * 1024 / slot_bytes, 4, 125);
    }
    /// Bytes of one: 1 KiB for slots of up to 262 bytes, less for larger ones.
    static constexpr std::size_t bytes(std::size_t slot_bytes) noexcept {
        return align_up(sizeof(magazine) + capacity(slot_bytes) * sizeof(void*), alignment);
    }
};

}  // namespace acre
