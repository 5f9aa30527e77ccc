// Pictures of a front: over the size of an arena, the memory that the fewest arenas of that size take.
#pragma once

#include <cstdint>
#include <string>

#include "multi_arena_front.hpp"

namespace acre::tool {

/// What a picture shows besides the front.
struct front_picture {
    multi_arena_front front;
    arena_sharing sharing = arena_sharing::one_thread;
    std::uint64_t peak_bytes = 0;  // what lived at the peak: no arenas can take less
};

/// For a terminal: some lines of text.
std::string plot_text(const front_picture& of);

/// A picture of its own, readable on light and on dark ground.
std::string plot_svg(const front_picture& of);

}  // namespace acre::tool
