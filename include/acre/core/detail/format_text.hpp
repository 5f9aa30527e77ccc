// How the resources put formatted text into storage: format_text() for format().
//
// Used by the resources, not directly. Cost: text is formatted twice, once for its length.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace acre::detail {

/// The `length` characters at `text`. A template, because choosing the constructor makes a compiler check the
/// standard's iterator concepts, which only users of text should pay for.
template <class View = std::string_view>
constexpr View view_of(const char* text, std::size_t length) noexcept {
    return View(text, length);
}

/// Formats as std::vprintf into storage of `allocate(bytes)`. A zero byte follows the view. If there is no storage, the
/// view's data() is null.
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
    return detail::view_of(text, text == nullptr ? 0 : bytes - 1);
}

}  // namespace acre::detail
