// What a realtime_heap knows of each of its arenas, and of each size of slots.
//
// Used by acre::realtime_heap, not directly. The records lie outside of the arenas, one in a cache line, so that a call
// reads two lines: the arena's and its class's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre::detail {

struct heap_arena;

/// A list of arenas, linked in their records. Each operation is constant time.
class arena_list {
public:
    heap_arena* first() const noexcept { return first_; }
    bool is_empty() const noexcept { return first_ == nullptr; }

    void push(heap_arena& added) noexcept;
    /// Removes the first one.
    void pop() noexcept;
    void remove(heap_arena& removed) noexcept;

private:
    heap_arena* first_ = nullptr;
};

/// Slots of one size.
struct arena_class {
    arena_list open;  // the arenas of this class with a free slot
    // Requests whose last byte is in [first_last, first_last + lasts) belong to this class.
    std::uint32_t first_last = 0;
    std::uint32_t lasts = 0;
    std::uint32_t slots = 0;  // of an arena
    std::uint32_t stride = 0;
    std::uint32_t inverse = 0;  // where a slot begins times this, over 2^32, is its number: exact below 2^16 slots
};

/// What an arena is used for. Of a run, the first arena says what the run is.
enum class arena_use : std::uint32_t {
    no_beginning,  // inside a run, or never used
    slots,
    free_run,
    taken_run,
};

/// One arena.
struct alignas(64) heap_arena {
    std::uint64_t full = 0;  // a bit for each word that has no free slot
    std::uint64_t* words;    // a bit for each slot: set while it is live
    std::byte* bytes;        // the arena itself
    arena_class* own;        // of its slots; of another arena, a class that no request is of
    heap_arena* next = nullptr;
    std::uint32_t count = 0;  // of an arena of slots, its live ones; of a run, its arenas
    arena_use use = arena_use::no_beginning;
    // What points to it: the list, or the `next` of the arena before. Not beside `next`: g++ would combine the two
    // stores of a push into a vector, in 4 more instructions.
    heap_arena** link = nullptr;
};

[[gnu::always_inline]] inline void arena_list::push(heap_arena& added) noexcept {
    added.link = &first_;
    added.next = first_;
    if (first_ != nullptr) first_->link = &added.next;
    first_ = &added;
}

[[gnu::always_inline]] inline void arena_list::pop() noexcept {
    first_ = first_->next;
    if (first_ != nullptr) first_->link = &first_;
}

[[gnu::always_inline]] inline void arena_list::remove(heap_arena& removed) noexcept {
    heap_arena* const next = removed.next;
    heap_arena** const link = removed.link;
    *link = next;
    if (next != nullptr) next->link = link;
}

}  // namespace acre::detail
