// The options that pools take at construction.
//
//     using namespace acre::literals;
//     acre::object_pool<Orc> orcs{{.limit_bytes = 1_MiB, .report_live = true}};
//     acre::concurrent_pool<64> messages{{.thread_bytes = 16_KiB}};
#pragma once

#include <acre/core/literals.hpp>
#include <cstddef>
#include <cstdint>

namespace acre {

/// Options of acre::pool, acre::object_pool and acre::multi_pool.
struct pool_options {
    /// Upper limit of the bytes held from upstream; at least the first slab, which has 4 KiB or more.
    std::size_t limit_bytes = SIZE_MAX;
    /// Upper limit of the slots in one upstream call. A slab still has at least 4 KiB and four slots.
    std::size_t region_slots = SIZE_MAX;
    /// Write a line to stderr when the pool ends with live allocations. Object pools destroy their objects either way.
    bool report_live = false;
};

/// What a pool looks at when a slot is freed: a template argument of pools, and of the groups of static_pool.
/// docs/misuse.md has what each choice notices and costs.
enum class double_free_check {
    /// Whether it is a live slot of the pool: a double free, and each other wrong pointer, is noticed in the free.
    at_once,
    /// Nothing. A free puts the slot in front of the others, so it and the next allocation take a few instructions. A
    /// mistake is noticed when the slot goes back to its slab, if it does: in release_unused(), in a walk over the
    /// objects, at a thread's end. Until then two owners may have the slot. Under AddressSanitizer the same as at_once.
    none,
};

/// Options of acre::concurrent_pool, acre::concurrent_object_pool and acre::concurrent_multi_pool.
struct concurrent_pool_options {
    /// Upper limit of the bytes held from upstream; at least the first slab, which has 4 KiB or more. A
    /// concurrent_multi_pool takes no caches or magazines from the last 64 KiB: below that every call takes a lock.
    std::size_t limit_bytes = SIZE_MAX;
    /// Upper limit of the slots in one upstream call. A slab still has at least 4 KiB and four slots.
    std::size_t region_slots = SIZE_MAX;
    /// Upper limit of the bytes of free slots that one thread keeps, for each size class in a multi-pool. A thread may
    /// always keep two slots.
    std::size_t thread_bytes = 64_KiB;
    /// Write a line to stderr when the pool ends with live allocations. Object pools destroy their objects either way.
    bool report_live = false;
};

/// Options of acre::wait_free_pool and acre::wait_free_object_pool.
struct wait_free_pool_options {
    /// Number of slots, fixed at construction: 1 to 16,777,216.
    std::size_t slots = 0;
    /// Touch every page at construction, so that no thread waits for a page fault later.
    bool prefault = true;
    /// Write a line to stderr when the pool ends with live allocations. Object pools destroy their objects either way.
    bool report_live = false;
};

}  // namespace acre
