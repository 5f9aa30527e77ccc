// How an acre::multi_arena is laid out and what it does with requests that do not fit its arenas.
#pragma once

#include <cstddef>

namespace acre {

/// What becomes of a request larger than one arena.
enum class large_requests {
    refuse,    // request_too_large
    take_run,  // it takes as many neighbouring empty arenas as it needs: linear in the number of arenas
};

/// Number and size of the arenas of an acre::multi_arena.
struct multi_arena_options {
    std::size_t arenas = 0;  // at least 1
    std::size_t bytes = 0;   // of each arena, at least 1; rounded up to a multiple of 16
    std::size_t open = 0;    // arenas with room left that are tried besides the one in use, at most 8
    large_requests large = large_requests::refuse;
};

}  // namespace acre
