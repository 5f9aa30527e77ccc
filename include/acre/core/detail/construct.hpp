// An object made in storage that is given back when its constructor throws: what create() of every resource does with
// the storage it has.
//
// Used by the resources, not directly. Cost: that of the constructor.
#pragma once

#include <acre/core/error.hpp>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string_view>
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

/// The text that `pattern` and `arguments` make, followed by a zero byte that is not part of the view, in the storage
/// that `allocate(bytes)` gives. A view whose data() is null when that is null.
template <class Allocate>
[[gnu::format(printf, 2, 0)]] std::string_view format_text(Allocate allocate, const char* pattern,
                                                           std::va_list arguments) {
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
    const std::size_t bytes = length < 0 ? 1 : static_cast<std::size_t>(length) + 1;
    char* text = static_cast<char*>(allocate(bytes));
    if (text != nullptr) {
        text[0] = '\0';
        if (length > 0) std::vsnprintf(text, bytes, pattern, again);
    }
    va_end(again);
    return {text, text == nullptr ? 0 : bytes - 1};
}

}  // namespace acre::detail
