// Limits of a search.
#pragma once

#include <cstddef>
#include <limits>

namespace model {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The arguments of explore(). With the defaults the search is complete.
struct options {
    bool reduce = true;                      // explore one of the schedules that differ only in independent operations
    std::size_t preemptions = unlimited;     // of threads that could continue; a limit turns the reduction off
    std::size_t stale_stores = unlimited;    // how far a load may be behind the newest store
    std::size_t spurious_failures = 0;       // of compare_exchange_weak in one execution
    std::size_t max_steps = 2000;            // of one execution; more are reported as an endless loop
    std::size_t max_executions = 5'000'000;  // more are a failure
};

}  // namespace model
