#include "valid_text.hpp"

#include <cstdint>

namespace acre::tool {

namespace {

constexpr std::size_t max_bytes = 1 << 20;
constexpr std::string_view replacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

bool continues(std::uint8_t byte) {
    return (byte & 0xc0) == 0x80;
}

/// Length of the UTF-8 character at the start of the text; 0 if there is none.
std::size_t character_length(std::string_view text) {
    const std::uint8_t first = byte_at(text, 0);
    const std::uint8_t second = byte_at(text, 1);
    if (first < 0x80) return first == 0 ? 0 : 1;
    if (first < 0xc2 || first > 0xf4 || !continues(second)) return 0;
    if (first < 0xe0) return 2;
    if (!continues(byte_at(text, 2))) return 0;
    const bool overlong = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second > 0x9f;
    if (first < 0xf0) return overlong || surrogate ? 0 : 3;
    const bool out_of_range = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return out_of_range || !continues(byte_at(text, 3)) ? 0 : 4;
}

}  // namespace

std::string valid_text(std::string_view text) {
    std::string valid;
    while (!text.empty() && valid.size() + 4 <= max_bytes) {
        const std::size_t length = character_length(text);
        valid += length == 0 ? replacement : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return valid;
}

}  // namespace acre::tool
