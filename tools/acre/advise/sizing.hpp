// How large what is advised must be.
#pragma once

#include "advice.hpp"

namespace acre::tool {

/// Fills in the sizes of what suits: of an arena's first block, a pool's slots, a buffer, and number and size of
/// arenas.
void choose_sizes(advice& each);

}  // namespace acre::tool
