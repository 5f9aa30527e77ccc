#include "valid_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "text.hpp"

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

/// The code point of a character of at most three bytes; of any other a number that is none.
std::uint32_t code_point(std::string_view character) {
    const std::uint32_t first = byte_at(character, 0);
    const std::uint32_t second = byte_at(character, 1) & 0x3fU;
    switch (character.size()) {
        case 1:
            return first;
        case 2:
            return (first & 0x1fU) << 6 | second;
        case 3:
            return (first & 0xfU) << 12 | second << 6 | (byte_at(character, 2) & 0x3fU);
        default:
            return 0xffffffff;
    }
}

/// Whether a terminal would obey the character, or show the text around it in another order or on another line.
bool is_command(std::uint32_t code) {
    const auto between = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
    const bool control = between(0, 0x1f) || between(0x7f, 0x9f);
    const bool separator = between(0x2028, 0x2029);
    const bool direction =
        code == 0x061c || between(0x200e, 0x200f) || between(0x202a, 0x202e) || between(0x2066, 0x2069);
    return control || separator || direction;
}

/// The text with `replace(code point)` instead of each character that is_command(), and U+FFFD for invalid bytes.
template <typename Replace>
std::string without_commands(std::string_view text, Replace replace) {
    const auto is_plain = [](char each) { return each >= ' ' && each < 0x7f; };
    if (std::ranges::all_of(text, is_plain)) return std::string{text};
    std::string safe;
    while (!text.empty()) {
        // A zero byte is a control character here.
        const std::size_t length = text.front() == 0 ? 1 : character_length(text);
        const std::string_view character = text.substr(0, length);
        if (length == 0) {
            safe += replacement;
        } else if (const std::uint32_t code = code_point(character); is_command(code)) {
            safe += replace(code);
        } else {
            safe += character;
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return safe;
}

/// As $'...'. Other bytes are octal: after a hexadecimal one some shells take the next digits for a part of it.
std::string escaped_for_shell(std::string_view word) {
    std::string quoted = "$'";
    while (!word.empty()) {
        const std::size_t length = character_length(word);
        const std::string_view character = word.substr(0, std::max<std::size_t>(length, 1));
        if (character == "\n" || character == "\t") {
            quoted += character == "\n" ? "\\n" : "\\t";
        } else if (character == "'" || character == "\\") {
            quoted.append("\\").append(character);
        } else if (length == 0 || is_command(code_point(character))) {
            for (const char each : character) quoted += fmt::format("\\{:03o}", static_cast<std::uint8_t>(each));
        } else {
            quoted += character;
        }
        word.remove_prefix(character.size());
    }
    return quoted + "'";
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
    if (word != printable(word)) return escaped_for_shell(word);
    if (!word.empty() && word.find_first_of(" \"'\\$`*?[]#~=|&;<>(){}!^") == std::string_view::npos)
        return std::string{word};
    std::string quoted = "'";
    for (const char each : word) quoted += each == '\'' ? "'\\''" : std::string{each};
    return quoted + "'";
}

std::string printable(std::string_view name) {
    return without_commands(name, [](std::uint32_t) { return '?'; });
}

std::string printable_text(std::string_view text) {
    return without_commands(
        text, [](std::uint32_t code) { return code == '\n' || code == '\t' ? static_cast<char>(code) : '?'; });
}

std::string printable_json(std::string_view json) {
    // Line feeds and tabs separate values; within a string they are escaped already.
    return without_commands(json, [](std::uint32_t code) {
        return code < ' ' ? std::string(1, static_cast<char>(code)) : fmt::format("\\u{:04x}", code);
    });
}

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
