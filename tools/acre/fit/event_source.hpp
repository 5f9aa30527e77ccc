// What a fit is made of: the events of a whole trace or of a part of it, as often as they are asked for.
#pragma once

#include <functional>

#include "replay/event_pairing.hpp"
#include "trace/model.hpp"

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

}  // namespace acre::tool
