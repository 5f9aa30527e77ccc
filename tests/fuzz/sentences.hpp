// What the command prints must be safe for a terminal, and a message must be one sentence.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/text.hpp"

namespace acre_test {

inline void check(bool holds) {
    if (!holds) std::abort();
}

/// Lines of text without other control characters.
inline void check_text(std::string_view text) {
    const std::string shown = acre::tool::printable_text(text);
    check(std::ranges::all_of(shown,
                              [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t'; }));
    check(acre::tool::printable_text(shown) == shown);
}

/// A message as tell() prints it.
inline void check_message(std::string_view message) {
    const std::string shown = acre::tool::printable(message);
    check(shown.size() >= 10 && shown.find('\n') == std::string::npos);
    check(acre::tool::printable(shown) == shown);
}

}  // namespace acre_test
