// How rows pass from a program to `acre record` while both run. One thread of the program writes a chunk: it completes
// a row, then counts it. When the chunk is full it begins the chunk anew. A reader looks at the chunk, copies rows, and
// keeps them only if the chunk was not begun anew meanwhile.
//
// All words are stored with release and loaded with acquire. So a reader that sees a row also sees which rows the chunk
// was begun for: it cannot take a row of the next ones for one of the last. On x86 these are plain loads and stores.
#pragma once

#include <atomic>
#include <cstdint>

#include "raw_log.hpp"

namespace acre::raw {

namespace detail {

template <typename T>
void store(T& word, T value) {
    std::atomic_ref{word}.store(value, std::memory_order_release);
}

template <typename T>
T load(const T& word) {
    return std::atomic_ref{const_cast<T&>(word)}.load(std::memory_order_acquire);
}

}  // namespace detail

/// Begins a chunk for the entries from number `first` on.
inline void begin_entries(chunk_head& chunk, chunk_kind kind, std::uint32_t thread, std::uint64_t first) {
    chunk.count.store(0, std::memory_order_release);
    // For signal handlers in this thread as well.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    detail::store(chunk.kind, kind);
    detail::store(chunk.thread, thread);
    detail::store(chunk.first, first);
}

/// Writes a row into its place and counts it. It must be complete before it is counted, since a signal or the end of
/// the process may come between any two stores.
inline void append_row(chunk_head& chunk, row& place, const row& value) {
    detail::store(place.ticks, value.ticks);
    detail::store(place.pointer_and_kind, value.pointer_and_kind);
    detail::store(place.node, value.node);
    detail::store(place.size, value.size);
    chunk.count.store(chunk.count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// The rows of a chunk at a moment.
struct seen_rows {
    std::uint32_t thread = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// Nothing is counted where the chunk is begun at this moment.
inline seen_rows look_at(const chunk_head& chunk) {
    seen_rows seen;
    seen.first = detail::load(chunk.first);
    seen.thread = detail::load(chunk.thread);
    seen.count = chunk.count.load(std::memory_order_acquire);
    return seen;
}

/// Copies `count` rows from number `skipped` of the chunk. False if they have left the chunk meanwhile.
inline bool copy_rows(const chunk_head& chunk, const seen_rows& seen, std::uint64_t skipped, std::uint64_t count,
                      row* to) {
    const row* from = reinterpret_cast<const row*>(&chunk + 1) + skipped;
    for (std::uint64_t i = 0; i < count; ++i) {
        to[i] = {detail::load(from[i].ticks), detail::load(from[i].pointer_and_kind), detail::load(from[i].node),
                 detail::load(from[i].size)};
    }
    const seen_rows now = look_at(chunk);
    return now.first == seen.first && now.thread == seen.thread && now.count >= seen.count;
}

}  // namespace acre::raw
