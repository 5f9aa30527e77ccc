// How large a scenario may be: fixed, so that what a thread knows is an array to copy and nothing to allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace model {

/// The threads of a scenario, and the scenario itself, which is thread 0.
inline constexpr std::size_t max_threads = 5;
/// The atomics and plain objects that one execution makes.
inline constexpr std::size_t max_objects = 128;

/// The number of an atomic, in the order in which they are made.
using object_id = std::uint8_t;
inline constexpr object_id no_object = 255;

/// A set of threads: bit `thread`.
using thread_set = unsigned;
constexpr thread_set only(std::size_t thread) noexcept {
    return thread_set{1} << thread;
}
constexpr bool contains(thread_set set, std::size_t thread) noexcept {
    return (set & only(thread)) != 0;
}

}  // namespace model
