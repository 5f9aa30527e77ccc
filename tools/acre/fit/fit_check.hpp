// Shows by a replay over the real types that what was found suffices, and that it is the least where that is said.
//
// The events are played as they are read, and nothing is written to the memory handed out, so that the replay takes no
// more memory than the live objects need, however long the trace is and however large the arenas are.
#pragma once

#include <optional>
#include <string>

#include "event_source.hpp"
#include "fit.hpp"

namespace acre::tool {

/// What the replay over one type gave.
struct size_check {
    bool suffices = false;               // everything was served at exactly that size
    std::optional<bool> one_less_fails;  // with one arena less, or 8 bytes; nothing where there is no less
    std::string failure;                 // why it could not be tried
};

struct fit_checks {
    std::optional<size_check> multi_arena;
    std::optional<size_check> concurrent_multi_arena;
    std::optional<size_check> arena;
};

/// Plays the selection over the multi-arenas that `result` has, and over an arena where that is wanted.
fit_checks check_sizes(const event_source& source, const fit_result& result, bool arena);

}  // namespace acre::tool
