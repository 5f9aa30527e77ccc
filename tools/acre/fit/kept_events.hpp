// The events of a selection in 16 bytes each: a fit goes through them many times, and to decode the trace each time
// would take longer than the fit.
#pragma once

#include <cstdint>
#include <functional>

#include "event_source.hpp"
#include "trace/spooled_list.hpp"

namespace acre::tool {

/// Memory in proportion to the objects that live at a time, and to a limit for the events, the others of which are in a
/// file.
class kept_events {
public:
    /// Reads all events once. Throws tool_error on sizes that no program can have.
    explicit kept_events(const event_source& from, std::size_t memory = spooled_list<std::uint64_t>::usual_memory);

    /// The same events again, but for the stacks of frees; `tell` is told how much of them has been gone through. This
    /// object must live longer.
    event_source source(std::function<void(double)> tell = {}) const;

private:
    /// Allocations take the slot that was free last, so that only a free must say which one.
    struct kept_event {
        std::uint64_t size : 48 = 0;
        std::uint64_t alignment_log2 : 8 = 0;
        bool allocates : 1 = false;
        bool by_realloc : 1 = false;
        std::uint32_t thread = 0;
        std::uint32_t stack_or_slot = 0;
    };
    static_assert(sizeof(kept_event) == 16);

    /// Slots of live objects, used again in a fixed order.
    class slots;

    spooled_list<kept_event> events_;
};

}  // namespace acre::tool
