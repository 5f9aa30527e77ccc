// How the resources put objects into storage: construct_at_or() for create().
//
// Used by the resources, not directly. Cost: that of the constructor.
#pragma once

#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// A T constructed from `arguments` at `storage`. If the constructor throws, calls `give_back()` and rethrows. Without
/// exceptions `storage` may be null, from a failed allocation: then returns null.
template <class T, class GiveBack, class... Arguments>
T* construct_at_or(void* storage, [[maybe_unused]] GiveBack give_back, Arguments&&... arguments) {
    if (!exceptions_enabled && storage == nullptr) return nullptr;
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
        return detail::construct_at(static_cast<T*>(storage), std::forward<Arguments>(arguments)...);
    } else {
        struct guard {
            GiveBack& give_back;
            bool constructed = false;
            ~guard() {
                if (!constructed) give_back();
            }
        } unless_constructed{give_back};
        T* object = detail::construct_at(static_cast<T*>(storage), std::forward<Arguments>(arguments)...);
        unless_constructed.constructed = true;
        return object;
    }
}

}  // namespace acre::detail
