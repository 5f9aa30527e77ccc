// Text without the C library's locale, memory or errno.
#pragma once

#include <cstdint>

namespace acre::recorder {

/// Appends up to `end`; returns where the text ends. Writes no 0.
inline char* append_text(char* at, const char* end, const char* text) {
    while (*text != 0 && at < end) *at++ = *text++;
    return at;
}

inline char* append_number(char* at, const char* end, std::uint64_t value) {
    char digits[24];
    char* digit = digits + sizeof digits;
    *--digit = 0;
    do {
        *--digit = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return append_text(at, end, digit);
}

/// The decimal number at `text`, which moves behind it; 0 if there is none.
inline std::uint64_t parse_number(const char*& text) {
    std::uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    return value;
}

}  // namespace acre::recorder
