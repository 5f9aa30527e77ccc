// The options of acre::virtual_memory, and what it got of them.
//
//     using namespace acre::literals;
//     acre::virtual_memory pages{{.reserve_bytes = 1_GiB, .guard_pages = 1, .lock = true, .if_possible = true}};
//     if (!pages.obtained().locked) warn(pages.last_refusal().meaning);
#pragma once

#include <acre/core/literals.hpp>
#include <cstddef>

namespace acre {

/// The huge pages that an acre::virtual_memory asks for.
enum class huge_pages {
    none,          ///< pages of the usual size
    transparent,   ///< the system puts huge pages under allocations where it has them (madvise)
    preallocated,  ///< pages that the administrator set aside (vm.nr_hugepages), taken at allocation (MAP_HUGETLB)
};

/// Options of acre::virtual_memory.
struct virtual_memory_options {
    /// Addresses to reserve; they cost no memory. 0: 64 GiB (256 MiB where addresses have 32 bits), or as much of it as
    /// the limit of the process allows.
    std::size_t reserve_bytes = 0;
    /// Free pages above this mark go back to the system at each deallocate and reset.
    std::size_t keep_bytes = 16_MiB;
    /// Pages without access in front of each allocation and behind it. Not together with huge pages.
    std::size_t guard_pages = 0;
    huge_pages huge = huge_pages::none;
    /// Back pages by memory when they are allocated, so that no access waits for the system later.
    bool prefault = false;
    /// Keep pages in physical memory (mlock).
    bool lock = false;
    /// Do without what the system refuses of huge, prefault and lock.
    bool if_possible = false;
};

/// What an acre::virtual_memory got of what its options asked for, so far.
struct virtual_memory_grants {
    /// Which huge pages back it; none where the system refused them.
    huge_pages huge = huge_pages::none;
    /// Pages are backed by memory when they are allocated.
    bool prefaulted = false;
    /// Pages stay in physical memory.
    bool locked = false;
};

}  // namespace acre
