// Checks by a replay over the real types that the sizes found suffice, and that those said to be the smallest are.
//
// Events are played as they are read, and nothing is written to the allocated memory. So the replay needs memory only
// in proportion to the live objects, however long the trace and however large the arenas are.
#pragma once

#include "event_source.hpp"
#include "fit.hpp"
#include "size_check.hpp"

namespace acre::tool {

/// Plays the selection over the best multi-arenas and the realtime_heap of `result` and, if `arena` is true, over an
/// arena.
fit_checks check_sizes(const event_source& source, const fit_result& result, bool arena);

}  // namespace acre::tool
