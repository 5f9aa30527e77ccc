// Fixed limits of a scenario, so that knowledge is a plain array.
#pragma once

#include <cstddef>
#include <cstdint>

namespace model {

/// The threads of a scenario, with the scenario itself as thread 0.
inline constexpr std::size_t max_threads = 5;
/// The atomics and plain objects of one execution.
inline constexpr std::size_t max_objects = 128;

/// The number of an atomic, in order of construction.
using object_id = std::uint8_t;
inline constexpr object_id no_object = 255;

/// A set of threads as bits.
using thread_set = unsigned;
constexpr thread_set only(std::size_t thread) noexcept {
    return thread_set{1} << thread;
}
constexpr bool contains(thread_set set, std::size_t thread) noexcept {
    return (set & only(thread)) != 0;
}

}  // namespace model
