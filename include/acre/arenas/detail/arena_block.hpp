// The blocks of an arena. Each begins with a header, which links lists of blocks.
//
// Used by acre::arena, not directly. Memory: 24 bytes a block, 16 where pointers have 32 bits. Cost: linear in the
// blocks looked at.
#pragma once

#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// Header of a block; its size is a multiple of the granule of the arena.
struct alignas(8) arena_block {
    arena_block* previous;
    std::size_t bytes;      // of the block, header included
    std::uintptr_t filled;  // the bump pointer when the block stopped being the current one

    /// In front of what a block hands out: the header, and a redzone in builds that poison.
    static const std::size_t header_bytes;

    std::uintptr_t start() const noexcept { return reinterpret_cast<std::uintptr_t>(this) + header_bytes; }
    std::uintptr_t end() const noexcept { return reinterpret_cast<std::uintptr_t>(this) + bytes; }
};
inline constexpr std::size_t arena_block::header_bytes = sizeof(arena_block) + redzone_bytes;

/// Makes `added` the first block of `list`.
inline void push(arena_block*& list, arena_block* added) noexcept {
    added->previous = list;
    list = added;
}

/// Appends the blocks of `tail` to `list`.
inline void append(arena_block*& list, arena_block* tail) noexcept {
    arena_block** link = &list;
    while (*link != nullptr) link = &(*link)->previous;
    *link = tail;
}

/// Removes the first block of at least `bytes` bytes from `list`; null when there is none.
inline arena_block* take(arena_block*& list, std::size_t bytes) noexcept {
    for (arena_block** link = &list; *link != nullptr; link = &(*link)->previous) {
        if ((*link)->bytes < bytes) continue;
        arena_block* found = *link;
        *link = found->previous;
        return found;
    }
    return nullptr;
}

/// Removes the blocks for which `keeps` is false from `list`, and passes each to `give_back`.
template <class Predicate, class Function>
void trim(arena_block*& list, Predicate keeps, Function give_back) noexcept {
    for (arena_block** link = &list; *link != nullptr;) {
        arena_block* each = *link;
        if (keeps(each)) {
            link = &each->previous;
        } else {
            *link = each->previous;
            give_back(each);
        }
    }
}

/// Bytes of all blocks of `list`, headers included.
inline std::size_t bytes_of(const arena_block* list) noexcept {
    std::size_t bytes = 0;
    for (; list != nullptr; list = list->previous) bytes += list->bytes;
    return bytes;
}

/// The first of the largest blocks of `list`; null when it is empty.
inline const arena_block* largest_of(const arena_block* list) noexcept {
    const arena_block* largest = list;
    for (; list != nullptr; list = list->previous) {
        if (list->bytes > largest->bytes) largest = list;
    }
    return largest;
}

/// True when `address` lies in a block of `list`, behind the header.
inline bool lies_in(const arena_block* list, std::uintptr_t address) noexcept {
    for (; list != nullptr; list = list->previous) {
        if (address >= list->start() && address < list->end()) return true;
    }
    return false;
}

}  // namespace acre::detail
