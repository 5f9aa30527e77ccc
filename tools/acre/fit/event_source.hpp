// What a fit reads: the events of a trace or of a part of it, as often as it asks for them.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "replay/event_pairing.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/spooled_list.hpp"

namespace acre::tool {

/// Calls its argument for each event, in the same order each time. Contains only frees of objects whose allocation it
/// contains. The numbers of objects are small, as those of small_numbers: tables of the live objects are arrays. A
/// source that is read more than once may be called by two threads at a time.
using event_source = std::function<void(const std::function<void(const event&)>&)>;

/// What a trace says of an event's alignment, in bytes.
constexpr std::uint64_t alignment_of(const event& e) noexcept {
    return e.alignment_log2 == 0 ? 16 : std::uint64_t{1} << e.alignment_log2;
}

/// Throws tool_error if the size or the alignment is impossible.
void require_possible(const event& e);

/// Passes all events to a sink of event_pairing.
template <typename Sink>
void play(const event_source& source, Sink& sink) {
    event_pairing pairing;
    source([&](const event& e) { pairing.add(e, sink); });
    pairing.close_all(sink);
}

/// Numbers events anew, by their places: live objects have different numbers, all smaller than the most objects and
/// threads at a time. The number of a realloc's old object is used again only after the thread's next event, for a sink
/// of event_pairing gets the object back with that.
class small_numbers {
public:
    void renumber(event& e) {
        if (e.thread >= held_.size()) held_.resize(std::size_t{e.thread} + 1, none);
        const std::uint32_t held = std::exchange(held_[e.thread], none);
        if (e.allocates) {
            if (e.place >= of_place_.size()) of_place_.resize(std::size_t{e.place} + 1);
            of_place_[e.place] = free_.take();
        } else if (e.op == operation::realloc) {
            held_[e.thread] = of_place_[e.place];
        } else {
            free_.give_back(of_place_[e.place]);
        }
        e.object = of_place_[e.place];
        if (held != none) free_.give_back(held);
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    free_places free_;
    std::vector<std::uint32_t> of_place_;
    std::vector<std::uint32_t> held_;  // by thread: of the object that its last event, half of a realloc, ended
};

/// A copy of the events of a selection in 16 bytes each: a fit reads them many times, and decoding the trace each time
/// would take longer than the fit. Memory: in proportion to the live objects, and at most `memory` for events; the
/// others are in a file.
class kept_events {
public:
    /// Reads all events once. Throws tool_error if a size is impossible.
    explicit kept_events(const event_source& from, std::size_t memory = spooled_list<std::uint64_t>::usual_memory);

    /// The events without the stacks of frees. Calls `tell` with its progress, in one thread at a time. This object
    /// must outlive the source.
    event_source source(std::function<void(double)> tell = {}) const;

private:
    /// Allocations take the place that was freed last, so only a free must name its place.
    struct kept_event {
        std::uint64_t size : 48 = 0;
        std::uint64_t alignment_log2 : 8 = 0;
        bool allocates : 1 = false;
        bool by_realloc : 1 = false;
        std::uint32_t thread = 0;
        std::uint32_t stack_or_place = 0;
    };
    static_assert(sizeof(kept_event) == 16);

    spooled_list<kept_event> events_;
};

}  // namespace acre::tool
