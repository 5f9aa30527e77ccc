// Refuses clear() of a resource by a sentence, since published arenas and pools mean two things by it.
#pragma once

#include <type_traits>

namespace acre::detail {

/// A base of resources that have no clear(). Cost: none.
struct no_clear {
    template <class Never = void>
    void clear() noexcept {
        static_assert(!std::is_void_v<Never>,
                      "acre: a resource has no clear(): reset() takes back all that was handed out and keeps the "
                      "memory; release(), of an arena reset(acre::release), gives the memory back too; "
                      "release_unused() of a pool gives back only what is free");
    }
};

}  // namespace acre::detail
