// Finds number and size of the arenas for an advice of a multi_arena, by the engine of `acre fit`.
#pragma once

#include "advice.hpp"
#include "history.hpp"

namespace acre::tool {

/// Sets the pair that takes the least memory of all with which nothing of the advice is refused in the recorded order,
/// of the neediest thread where each has arenas of its own; leaves what was estimated where there is none.
void fit_arenas(advice& each, const history& run);

}  // namespace acre::tool
