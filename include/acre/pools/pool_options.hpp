// What a pool may be told at construction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::pool, acre::object_pool and acre::multi_pool.
struct pool_options {
    std::size_t limit_bytes =
        SIZE_MAX;  // never holds more than this from upstream; at least the first slab, of 4 KiB or more
};

}  // namespace acre
