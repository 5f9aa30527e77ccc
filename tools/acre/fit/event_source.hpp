// What a fit reads: the events of a trace or of a part of it, as often as it asks for them.
#pragma once

#include <cstdint>
#include <functional>

#include "replay/event_pairing.hpp"
#include "trace/model.hpp"
#include "trace/spooled_list.hpp"

namespace acre::tool {

/// Calls its argument for each event, in order and the same each time. A free comes only of an object whose allocation
/// came.
using event_source = std::function<void(const std::function<void(const event&)>&)>;

/// Hands all events to a sink of event_pairing.
template <typename Sink>
void play(const event_source& source, Sink& sink) {
    event_pairing pairing;
    source([&](const event& e) { pairing.add(e, sink); });
    pairing.close_all(sink);
}

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
