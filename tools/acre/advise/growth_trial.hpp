// What it costs to copy the elements of a container that grows.
#pragma once

#include "growth_figures.hpp"
#include "replay/interval.hpp"

namespace acre::tool {

/// The CPU time, in nanoseconds, of copying the bytes of all replaced buffers, each to one of twice its size, as
/// measured just now in some rounds.
interval time_of_copies(const growth_figures& of);

}  // namespace acre::tool
