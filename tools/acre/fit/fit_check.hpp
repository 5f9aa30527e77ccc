// Shows by a replay that what was found suffices, and that it is the least where that is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "event_source.hpp"
#include "fit.hpp"
#include "replay/replay_host.hpp"

namespace acre::tool {

/// What the replay over one type gave.
struct size_check {
    bool suffices = false;             // everything was served at exactly that size
    std::optional<bool> one_less_fails;  // with one arena less, or 8 bytes; nothing where that cannot be tried
    std::string failure;               // why it could not be tried
};

struct fit_checks {
    std::optional<size_check> multi_arena;
    std::optional<size_check> concurrent_multi_arena;
    std::optional<size_check> arena;
};

/// Plays the selection over the types that `result` says sizes of. Takes 8 bytes of memory an event.
fit_checks check_sizes(replay_host& host, const event_source& source, const fit_result& result);

}  // namespace acre::tool
