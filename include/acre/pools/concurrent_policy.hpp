// Who allocates from a pool of threads, and what that costs: the policy of acre::concurrent_pool and
// acre::concurrent_pool_for, which are declared here and defined where their policies are.
//
//     acre::concurrent_pool<Message> messages;                                    // any thread creates
//     acre::concurrent_pool<Sample, acre::wait_free> samples{{.slots = 1000}};    // one does, and never waits
#pragma once

#include <acre/core/alignment.hpp>
#include <cstddef>

namespace acre {

/// Any thread allocates and frees, from magazines of its own; once a magazine under a lock. The default, in
/// <acre/pools/concurrent_pool.hpp>.
struct magazines;

/// One thread allocates, any thread frees, each in a bounded number of instructions: for real-time threads. In
/// <acre/pools/wait_free_pool.hpp>.
struct wait_free;

/// Slots of `Slot` bytes aligned to `Align`, for all threads.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot), class Policy = magazines>
class concurrent_pool_for;

/// Objects of type T, created and destroyed by any thread.
template <class T, class Policy = magazines>
class concurrent_pool;

}  // namespace acre
