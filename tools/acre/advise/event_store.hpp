// The events of a run in 16 bytes each: in memory as long as they are few, in a file beyond that.
#pragma once

#include <cstdint>

#include "trace/spooled_list.hpp"

namespace acre::tool {

/// An allocation or a free. What a free says nothing of is known from the allocation of its object, which is named by
/// the slot that it has while it lives.
struct stored_event {
    static constexpr std::uint32_t last_slot = (std::uint32_t{1} << 30) - 1;  // beyond what a reader lets live

    std::uint32_t slot : 30 = 0;
    std::uint32_t allocates : 1 = 0;
    std::uint32_t by_realloc : 1 = 0;     // it is a half of a realloc
    std::uint32_t context_or_stack = 0;   // of an allocation its context, of a free its stack
    std::uint32_t shape_or_function = 0;  // of an allocation its shape, of a free the owner of the lifetime
    std::uint32_t thread_of_allocation = 0;
};
static_assert(sizeof(stored_event) == 16);

using event_store = spooled_list<stored_event>;

}  // namespace acre::tool
