// What a pool may be told at construction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::pool and acre::object_pool.
struct pool_options {
    std::size_t limit_bytes = SIZE_MAX;  // never holds more than this from upstream
};

}  // namespace acre
