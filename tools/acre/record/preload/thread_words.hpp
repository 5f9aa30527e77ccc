// What the recorder knows of a thread wherever it is in it.
#pragma once

#include "system.hpp"

namespace acre::recorder {

/// What the linker gives each thread at a fixed distance from its thread pointer: nothing has to be set up to reach it.
struct thread_words {
    struct thread_state* state;
    std::uint64_t rows;           // in chunks that are done with
    std::uint64_t random;         // decides what is sampled; 0 before the first event
    std::uint64_t resource;       // that the resource rows are of; 0: none yet
    std::uint64_t timed_since;    // when the event that is timed began; 0: it is not timed
    std::int32_t events_untimed;  // so many more until one is timed
    std::uint32_t events_timed;   // counted as long as each is
    std::uint32_t number_plus_one;
    bool busy;  // inside a hook: what the recorder itself causes is not recorded
    bool ended;
    bool inside_resource;  // what is allocated is a resource's own affair
    std::uint8_t endings;  // rounds of thread-specific data being destroyed
};
extern constinit thread_local thread_words this_thread [[gnu::visibility("hidden")]];

}  // namespace acre::recorder
