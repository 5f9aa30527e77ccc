// Finds the arenas with which an acre::realtime_heap never refuses what a selection allocates, in whatever order it
// does so another time.
//
// Counts the live objects of each size class, for each size of arenas. Reads the events once. Memory: 8 bytes for each
// live object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "event_source.hpp"

namespace acre::tool {

/// Objects that share the arenas of one class, or take whole arenas.
struct realtime_class {
    std::uint64_t bytes = 0;         // of a slot, or of the arenas of one object
    std::uint64_t peak_objects = 0;  // most that were live at a time
    std::uint64_t arenas = 0;        // that so many need
};

/// The size of arenas that takes the least memory.
struct realtime_fit {
    std::uint64_t arena_bytes = 0;  // 0: no heap can serve this
    std::uint64_t arenas = 0;
    std::uint64_t total_bytes = 0;  // realtime_heap::required_bytes
    std::vector<realtime_class> classes;
    std::string impossible;  // a sentence why there is none, or empty
};

realtime_fit fit_realtime_heap(const event_source& source);

}  // namespace acre::tool
