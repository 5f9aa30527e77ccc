// How far a search goes.
#pragma once

#include <cstddef>
#include <limits>

namespace model {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The arguments of explore(); as they are, the search is complete.
struct options {
    bool reduce = true;                    // schedules that differ in the order of independent operations: one of them
    std::size_t preemptions = unlimited;   // of threads that could go on; with a limit there is no reduction
    std::size_t stale_stores = unlimited;  // how many stores a load may be behind the newest
    std::size_t spurious_failures = 0;     // of compare_exchange_weak, in one execution
    std::size_t max_steps = 2000;          // of one execution; more are taken for an endless loop
    std::size_t max_executions = 5'000'000;  // more are a failure: the scenario is too large
};

}  // namespace model
