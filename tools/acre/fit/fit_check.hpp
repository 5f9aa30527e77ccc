// Checks by a replay over the real types that the sizes found suffice, and that those said to be the smallest are.
//
// Events are played as they are read, and nothing is written to the allocated memory. So the replay needs memory only
// in proportion to the live objects, however long the trace and however large the arenas are.
#pragma once

#include <optional>
#include <string>

#include "event_source.hpp"
#include "fit.hpp"

namespace acre::tool {

/// Result of the replay over one type.
struct size_check {
    bool suffices = false;               // every request was served at that size
    std::optional<bool> one_less_fails;  // with one arena less, or 8 bytes less; nothing if there is no smaller size
    std::string failure;                 // why it could not be checked
};

struct fit_checks {
    std::optional<size_check> multi_arena;
    std::optional<size_check> concurrent_multi_arena;
    std::optional<size_check> arena;
    std::optional<size_check> realtime_heap;
};

/// Plays the selection over the best multi-arenas and the realtime_heap of `result` and, if `arena` is true, over an
/// arena.
fit_checks check_sizes(const event_source& source, const fit_result& result, bool arena);

}  // namespace acre::tool
