// The numbers by which advice is decided.
#pragma once

#include <cstdint>

namespace acre::tool {

// Most of these were tuned on one program; keep them together, so that they can be tuned again.
namespace threshold {

inline constexpr double worth_a_look = 0.01;      // of all allocations
inline constexpr double worth_the_change = 0.02;  // of the CPU time
inline constexpr double immortal = 0.95;          // never freed
inline constexpr double few_elsewhere = 0.05;     // freed by other threads
inline constexpr double lifo = 0.98;              // freed youngest first
inline constexpr double one_size = 0.9;           // share of the most frequent size; 5 % of other sizes must not matter
inline constexpr double much_churn = 8;           // allocations per object live at the peak
inline constexpr double some_churn = 2;           // the same: a pool reuses that much, if nothing else fits
inline constexpr std::uint64_t generations = 8;   // at least
inline constexpr double objects_a_generation = 4;    // on average
inline constexpr double in_generations = 0.9;        // of the objects
inline constexpr double expansion = 2;               // arena bytes per live byte
inline constexpr std::uint64_t small_arena = 65536;  // bytes; below it the expansion does not matter
inline constexpr double max_evicted = 0.05;          // blockers of a whole scope
inline constexpr double min_kept = 0.5;              // of a function's own objects
inline constexpr double phase_growth = 1.25;         // bytes in an arena per byte of malloc at the peak
inline constexpr std::uint64_t stack_bytes = 1024;   // of a buffer on the stack
inline constexpr std::uint64_t stack_life = 65536;   // bytes that the thread allocates in a life
inline constexpr double solo = 0.99;                 // freed as the only live one
inline constexpr double large_bytes = 32 * 1024;     // writing them takes 20 to 50 times as long as malloc and free
inline constexpr double orderly_life = 2;            // bytes allocated in a life per byte at the peak
inline constexpr double applied = 0.9;               // share of the allocations gone when an advice was followed
inline constexpr std::uint32_t many_callers = 3;     // functions that call a wrapper of malloc
inline constexpr double not_told_apart = 0.03;       // others among what a line frees or allocates
inline constexpr double stray = 0.001;               // of a scope's objects: a site that is not worth its line

// Allocations that a program need not make: so many calls, or bytes, and their part of all in the run.
inline constexpr std::uint64_t fewer_calls = 1000;
inline constexpr std::uint64_t fewer_copied_bytes = std::uint64_t{4} << 20;
inline constexpr double fewer_share = 0.05;
inline constexpr double most_of_scope = 0.5;     // of what a scope allocates: what need not be
inline constexpr std::uint64_t turns = 100;      // of a loop in which a container is made, at least
inline constexpr double worth_of_moving = 1.25;  // calls that a kept container saves, for each that reserve() saves

}  // namespace threshold

}  // namespace acre::tool
