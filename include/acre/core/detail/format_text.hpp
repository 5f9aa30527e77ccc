// Text formatted as std::printf does, into storage of a resource. Used by the resources that have format(), not
// directly. Cost: the text is formatted twice, once for its length.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace acre::detail {

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
