// Replays just the allocations of an advice, with malloc and with what is advised, and takes back what does not pay.
#pragma once

#include <cstddef>
#include <functional>

#include "advice.hpp"
#include "history.hpp"
#include "replay/replay_host.hpp"
#include "replay/sequence.hpp"

namespace acre::tool {

/// Events that are replayed at most, so that a long run takes no more memory and time than one of so many.
inline constexpr std::size_t longest_replay = std::size_t{8} << 20;

/// The steps of an advice's allocations: thread after thread, since each would have an arena or a pool of its own, and
/// with a reset at the end of each generation of an arena and of a scratch. Of more than `most_events` only the first are taken.
sequence advised_sequence(const history& run, const advice& of, std::size_t most_events = longest_replay);

/// Fills in `saving` and sets `says` of every advice; `tell` hears how far it is, from 0 to 1.
void measure_advices(replay_host& host, const history& run, advice_list& list, const std::function<void(double)>& tell);

}  // namespace acre::tool
