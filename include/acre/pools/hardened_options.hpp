// The options of the hardened pools.
//
//     acre::hardened_pool<64> keys{{.quarantine_slots = 10'000, .report_live = true}};
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::hardened_pool, acre::hardened_object_pool and acre::hardened_multi_pool.
struct hardened_options {
    /// Addresses to reserve, as virtual_memory_options::reserve_bytes.
    std::size_t reserve_bytes = 0;
    /// A freed slot is not handed out again before this many more were freed: 0 to 1,048,576.
    std::size_t quarantine_slots = 256;
    /// Fill freed slots, and report those that were written to.
    bool check_writes = true;
    /// The order in which slots are handed out repeats with the same seed: for tests. 0: another order each time.
    std::uint64_t seed = 0;
    /// Write a line to stderr when the pool ends with live allocations. Object pools destroy their objects either way.
    bool report_live = false;
};

}  // namespace acre
