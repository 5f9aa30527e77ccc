// Where the rules draw their lines; ADVICE chose most of them on one program, so they stand in one place.
#pragma once

#include <cstdint>

namespace acre::tool::threshold {

inline constexpr double worth_a_look = 0.01;         // of all allocations
inline constexpr double worth_the_change = 0.02;     // of the CPU time
inline constexpr double immortal = 0.95;             // never freed
inline constexpr double few_elsewhere = 0.05;        // freed by other threads
inline constexpr double lifo = 0.98;                 // freed youngest first
inline constexpr double one_size = 0.9;              // of the most frequent size; noise of 5 % must not matter
inline constexpr double much_churn = 8;              // allocations per object alive at the peak
inline constexpr std::uint64_t generations = 8;      // at least so many
inline constexpr double objects_a_generation = 4;    // on average
inline constexpr double in_generations = 0.9;        // of the objects
inline constexpr double expansion = 2;               // arena bytes per living byte
inline constexpr std::uint64_t small_arena = 65536;  // bytes for which the expansion does not matter
inline constexpr double max_evicted = 0.05;          // blockers of a whole scope
inline constexpr double min_kept = 0.5;              // of a function's own objects
inline constexpr double phase_growth = 1.25;         // bytes allocated per byte at the peak
inline constexpr std::uint64_t stack_bytes = 1024;   // of a buffer on the stack
inline constexpr std::uint64_t stack_life = 65536;   // bytes that the thread allocates meanwhile
inline constexpr double solo = 0.99;                 // freed as the only one
inline constexpr double large_bytes = 32 * 1024;     // writing so many takes 20 to 50 times what malloc and free do
inline constexpr double orderly_life = 2;            // bytes allocated in a life per byte at the peak
inline constexpr double applied = 0.9;               // of the allocations are gone when an advice was followed
inline constexpr std::uint32_t many_callers = 3;     // functions that call a wrapper of malloc

}  // namespace acre::tool::threshold
