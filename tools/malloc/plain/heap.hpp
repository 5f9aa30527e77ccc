// The heap of libacre-malloc, to which all requests go.
#pragma once

#include <acre/heaps/detail/process_heap.hpp>
#include <cstddef>

#include "below.hpp"

namespace acre::preload {

using acre::detail::the_heap;

/// The group that the plan puts requests from a return address into; 0: none.
constexpr unsigned group_of(const void*) noexcept {
    return 0;
}
constexpr bool is_wrapper(unsigned) noexcept {
    return false;
}
constexpr unsigned group_of_caller(unsigned, void* const*) noexcept {
    return 0;
}
inline void* take_planned_at_once(unsigned, std::size_t) noexcept {
    return nullptr;
}
inline void* take_planned(unsigned, std::size_t) noexcept {
    return nullptr;
}
inline void before_slow_request() noexcept {}
/// The malloc that serves what is not planned; null: the heap.
constexpr const malloc_below* serves_the_rest() noexcept {
    return nullptr;
}

}  // namespace acre::preload
