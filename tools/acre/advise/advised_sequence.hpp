// The steps that are replayed for an advice: its allocations and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "advice.hpp"
#include "history.hpp"
#include "replay/sequence.hpp"

namespace acre::tool {

/// Events that are replayed at most, so that a long run takes no more memory and time than one of so many.
inline constexpr std::size_t longest_replay = std::size_t{8} << 20;

/// The steps of an advice's allocations: thread after thread, since each would have an arena or a pool of its own, and
/// with a reset at the end of each generation of an arena and of a scratch. Of more than `max_events` only the first
/// are taken.
sequence advised_sequence(const history& run, const advice& of, std::size_t max_events = longest_replay);

/// The first events of a run, of all threads, as steps of one.
sequence beginning_of(const history& run, std::size_t max_events);

/// The share of so many events that is in a sequence made of them.
double replayed_share(const sequence& steps, std::uint64_t events);

}  // namespace acre::tool
