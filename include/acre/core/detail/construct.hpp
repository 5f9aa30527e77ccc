// An object made in storage that is given back when its constructor throws: what create() of every resource does with
// the storage it has.
//
// Used by the resources, not directly. Cost: that of the constructor.
#pragma once

#include <acre/core/error.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// A T constructed from `arguments` at `place`. When the constructor throws, `give_back()` is called and the exception
/// goes on. Null for null where there are no exceptions: then the storage could not be had.
template <class T, class GiveBack, class... Arguments>
T* construct_at_or(void* place, [[maybe_unused]] GiveBack give_back, Arguments&&... arguments) {
    if (!exceptions_enabled && place == nullptr) return nullptr;
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
        return ::new (place) T(std::forward<Arguments>(arguments)...);
    } else {
        struct guard {
            GiveBack& give_back;
            bool constructed = false;
            ~guard() {
                if (!constructed) give_back();
            }
        } unless_constructed{give_back};
        T* object = ::new (place) T(std::forward<Arguments>(arguments)...);
        unless_constructed.constructed = true;
        return object;
    }
}

}  // namespace acre::detail
