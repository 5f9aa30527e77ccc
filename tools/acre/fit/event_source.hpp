// What a fit reads: the events of a trace or of a part of it, as often as it asks for them.
#pragma once

#include <cstdint>
#include <functional>

#include "replay/event_pairing.hpp"
#include "trace/model.hpp"
#include "trace/spooled_list.hpp"

namespace acre::tool {

/// Calls its argument for each event, in the same order each time. Contains only frees of objects whose allocation it
/// contains.
using event_source = std::function<void(const std::function<void(const event&)>&)>;

/// Passes all events to a sink of event_pairing.
template <typename Sink>
void play(const event_source& source, Sink& sink) {
    event_pairing pairing;
    source([&](const event& e) { pairing.add(e, sink); });
    pairing.close_all(sink);
}

/// A copy of the events of a selection in 16 bytes each: a fit reads them many times, and decoding the trace each time
/// would take longer than the fit. Memory: in proportion to the live objects, and at most `memory` for events; the
/// others are in a file.
class kept_events {
public:
    /// Reads all events once. Throws tool_error if a size is impossible.
    explicit kept_events(const event_source& from, std::size_t memory = spooled_list<std::uint64_t>::usual_memory);

    /// The events without the stacks of frees. Calls `tell` with its progress. This object must outlive the source.
    event_source source(std::function<void(double)> tell = {}) const;

private:
    /// Allocations take the slot that was freed last, so only a free must name its slot.
    struct kept_event {
        std::uint64_t size : 48 = 0;
        std::uint64_t alignment_log2 : 8 = 0;
        bool allocates : 1 = false;
        bool by_realloc : 1 = false;
        std::uint32_t thread = 0;
        std::uint32_t stack_or_slot = 0;
    };
    static_assert(sizeof(kept_event) == 16);

    /// Slots of live objects, reused in a fixed order.
    class slots;

    spooled_list<kept_event> events_;
};

}  // namespace acre::tool
