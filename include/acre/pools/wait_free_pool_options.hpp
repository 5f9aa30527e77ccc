// What a pool with the policy acre::wait_free is told at construction.
#pragma once

#include <cstddef>

namespace acre {

/// Options of acre::wait_free_object_pool<T> and acre::wait_free_pool<Slot, Align>.
struct wait_free_pool_options {
    /// So many slots, all that it ever has: 1 to 16,777,216.
    std::size_t slots = 0;
    /// Touch every page at construction: no thread waits for one later.
    bool prefault = true;
    /// When the pool ends while something of it is live, a line to stderr says how much. Object pools destroy their
    /// objects either way.
    bool report_live = false;
};

}  // namespace acre
