// What the files of libacre-malloc and of libacre-plan share. The folders plain and planned each have a heap.hpp.
#pragma once

#include "below.hpp"
#include "heap.hpp"

#define ACRE_EXPORTED [[gnu::visibility("default")]]
// Where the return address of the function lies that this is used in, or is inlined into.
#define ACRE_RETURN_SLOT (static_cast<void**>(__builtin_dwarf_cfa()) - 1)

namespace acre::preload {

/// Takes back what is not of the heap, or ends the program with a sentence.
[[gnu::noinline]] inline void free_below(void* p) noexcept {
    if (p == nullptr) return;
    if (const malloc_below* known = whose_blocks_may_come()) return known->free(p);
    abort_on_misuse(the_heap.name, acre::detail::mistake::foreign_pointer, p);
}

[[gnu::always_inline]] inline void free_any(void* p) noexcept {
    the_heap.free_or(p, [](void* elsewhere) { free_below(elsewhere); });
}

}  // namespace acre::preload
