// What a pool may be told at construction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::pool, acre::object_pool, acre::multi_pool and the concurrent pools.
struct pool_options {
    /// Bytes: never holds more than this from upstream; at least the first slab, of 4 KiB or more.
    std::size_t limit_bytes = SIZE_MAX;
    /// Slots that upstream is asked for at once, at most. A slab has 4 KiB or four slots all the same.
    std::size_t region_slots = SIZE_MAX;
    /// When the pool ends while something of it is live, a line to stderr says how much. Object pools destroy their
    /// objects either way.
    bool report_live = false;
};

}  // namespace acre
