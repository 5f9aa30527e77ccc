// Refuses clear() of a resource by a sentence, since published arenas and pools mean two things by it.
#pragma once

#include <type_traits>

namespace acre::detail {

/// A base of resources that have no clear(). Cost: none. Each class has a type of its own, so that the empty base takes
/// no space.
template <class Derived>
struct no_clear {
    template <class Never = void>
    static void clear() noexcept {
        static_assert(!std::is_void_v<Never>,
                      "acre: a resource has no clear(): reset() takes back all that was handed out and keeps the "
                      "memory; release(), of an arena reset(acre::release), gives the memory back too; "
                      "release_unused() of a pool gives back only what is free; a typed_arena and a chunk_pool have "
                      "deallocate_all(), which destroys no object");
    }
};

}  // namespace acre::detail
