// What a pool for all threads may be told at construction.
#pragma once

#include <acre/core/literals.hpp>
#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::concurrent_object_pool, acre::concurrent_pool and acre::concurrent_multi_pool.
struct concurrent_pool_options {
    /// Bytes: never holds more than this from upstream; at least the first slab, of 4 KiB or more. Threads that share a
    /// multi-pool keep nothing of the last 64 KiB: under a smaller limit each call takes a lock.
    std::size_t limit_bytes = SIZE_MAX;
    /// Slots that upstream is asked for at once, at most. A slab has 4 KiB or four slots all the same.
    std::size_t region_slots = SIZE_MAX;
    /// Bytes of free slots that one thread keeps, at most: of each size class in a multi-pool, and two slots all the
    /// same.
    std::size_t thread_bytes = 64_KiB;
    /// When the pool ends while something of it is live, a line to stderr says how much. Object pools destroy their
    /// objects either way.
    bool report_live = false;
};

}  // namespace acre
