// Traces whose fit is known, and what a fit reads of them.
#pragma once

#include <deque>

#include "fit/event_source.hpp"
#include "tools/support/made_trace.hpp"

namespace acre::test {

inline event_source source_of(const made_trace& made) {
    return [&made](const std::function<void(const event&)>& visit) {
        for (const event& e : made.events) visit(e);
    };
}

/// Messages that live in a queue of `waiting`, oldest freed first.
inline void add_messages(made_trace& made, std::size_t count, std::size_t waiting, std::uint64_t bytes) {
    const auto works = made.stack({"main", "receive:5"});
    const auto ends = made.stack({"main", "answer:9"});
    std::deque<std::uint64_t> queue;
    for (std::size_t i = 0; i < count; ++i) {
        queue.push_back(made.allocate(works, bytes));
        if (queue.size() <= waiting) continue;
        made.release(queue.front(), ends);
        queue.pop_front();
    }
    for (const std::uint64_t each : queue) made.release(each, ends);
}

}  // namespace acre::test
