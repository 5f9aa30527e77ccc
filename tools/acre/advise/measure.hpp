// Replays just the allocations of an advice, with malloc and with what is advised, and takes back what does not pay.
#pragma once

#include <functional>

#include "advice.hpp"
#include "history.hpp"
#include "replay/replay_host.hpp"

namespace acre::tool {

/// Fills in `saving` and sets `says` of every advice; `tell` hears how far it is, from 0 to 1.
void measure_advices(replay_host& host, const history& run, advice_list& list, const std::function<void(double)>& tell);

}  // namespace acre::tool
