// How large the advised type must be.
#pragma once

#include "advice.hpp"
#include "history.hpp"

namespace acre::tool {

/// Fills in the sizes of the candidate: an arena's first block, a pool's slots, a buffer, or number and size of a
/// multi_arena's arenas, which the engine of `acre fit` finds.
void choose_sizes(advice& each, const history& run);

}  // namespace acre::tool
