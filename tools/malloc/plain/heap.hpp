// The heap of libacre-malloc, to which all requests go.
#pragma once

#include <acre/heaps/detail/process_heap.hpp>

namespace acre::preload {

using acre::detail::the_heap;

/// The group that the plan puts requests from a return address into; 0: none.
constexpr unsigned group_of(const void*) noexcept {
    return 0;
}
inline void* take_planned(unsigned, std::size_t) noexcept {
    return nullptr;
}
inline void before_slow_request() noexcept {}

}  // namespace acre::preload
