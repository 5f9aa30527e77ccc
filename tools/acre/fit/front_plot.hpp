// Plots of a front: total memory over the size of an arena.
#pragma once

#include <cstdint>
#include <string>

#include "multi_arena_front.hpp"

namespace acre::tool {

/// The contents of a plot.
struct front_picture {
    multi_arena_front front;
    arena_sharing sharing = arena_sharing::one_thread;
    std::uint64_t peak_bytes = 0;  // live bytes at the peak, which no arenas can undercut
};

/// A plot of text lines for a terminal.
std::string plot_text(const front_picture& of);

/// A standalone SVG, readable on light and on dark backgrounds.
std::string plot_svg(const front_picture& of);

}  // namespace acre::tool
