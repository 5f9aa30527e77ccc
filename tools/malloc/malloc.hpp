// What the files of libacre-malloc and of libacre-plan share. The folders plain and planned each have a heap.hpp.
#pragma once

#include "below.hpp"
#include "early.hpp"
#include "heap.hpp"

#define ACRE_EXPORTED [[gnu::visibility("default")]]
// At the beginning of a cache line: elsewhere a malloc and a free take 5 % longer.
#define ACRE_HOT [[gnu::aligned(64)]]
// Where the return address of the function lies that this is used in, or is inlined into.
#define ACRE_RETURN_SLOT (static_cast<void**>(__builtin_dwarf_cfa()) - 1)

namespace acre::preload {

/// Takes back what is not of the heap, or ends the program with a sentence.
[[gnu::noinline]] inline void free_below(void* p) noexcept {
    if (p == nullptr) return;
    if (early.owns(p)) return early.give(p);
    if (const malloc_below* known = whose_blocks_may_come()) return known->free(p);
    abort_on_misuse(the_heap.name, acre::detail::mistake::foreign_pointer, p);
}

[[gnu::always_inline]] inline void free_any(void* p) noexcept {
    the_heap.free_or(p, [](void* elsewhere) { free_below(elsewhere); });
}

// Requests of planned sites, where `Rest` serves those that neither their group nor the thread's slots can. Each one
// ends in a jump to the next, so that the first, which nearly always answers, needs no stack.
template <auto Rest>
[[gnu::noinline]] void* planned_slow(unsigned group, std::size_t bytes) {
    if (void* p = take_planned(group, bytes)) return p;
    if (void* p = the_heap.allocate_at_once(bytes)) return p;
    return Rest(bytes);
}
template <auto Rest>
[[gnu::noinline]] void* planned_through_wrapper(unsigned wrapper, std::size_t bytes, void* const* slot) {
    const unsigned group = group_of_caller(wrapper, slot);
    if (void* p = group != 0 ? take_planned_at_once(group, bytes) : the_heap.allocate_at_once(bytes)) [[likely]]
        return p;
    return planned_slow<Rest>(group, bytes);
}
/// `slot` is where the return address lies.
template <auto Rest>
[[gnu::noinline]] void* planned(unsigned group, std::size_t bytes, void* const* slot) {
    if (is_wrapper(group)) return planned_through_wrapper<Rest>(group, bytes, slot);
    if (void* p = take_planned_at_once(group, bytes)) [[likely]]
        return p;
    return planned_slow<Rest>(group, bytes);
}

}  // namespace acre::preload
