// Reads a text from beginning to end, and reports unexpected characters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "json.hpp"

namespace json {

class reader {
protected:
    explicit reader(std::string_view text) : text_(text) {}

    // A zero byte at the end of the text; JSON never contains one.
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool accept(char wanted) {
        const bool accepted = at_ < text_.size() && text_[at_] == wanted;
        at_ += accepted;
        return accepted;
    }
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    // Describes the next character in words.
    std::string found() const {
        if (at_ == text_.size()) return "the end of the document";
        if (next() == '\n') return "the end of the line";
        std::size_t bytes = 1;  // length of the character in UTF-8, by its continuation bytes
        while (at_ + bytes < text_.size() && is_continuation(text_[at_ + bytes])) ++bytes;
        return "'" + std::string{text_.substr(at_, bytes)} + "'";
    }

    std::string position_text(std::size_t at) const {
        return "line " + std::to_string(line_of(at)) + ", column " + std::to_string(column_of(at));
    }

    [[noreturn]] void fail(const std::string& what) const { fail(what, at_); }
    [[noreturn]] void fail(const std::string& what, std::size_t at) const {
        throw parse_error{line_of(at), column_of(at), what};
    }

    std::string_view text_;
    std::size_t at_ = 0;

private:
    static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

    // Lines are counted only when an error is reported.
    std::size_t line_of(std::size_t at) const {
        return 1 + static_cast<std::size_t>(std::ranges::count(text_.substr(0, at), '\n'));
    }
    std::size_t column_of(std::size_t at) const {
        const std::string_view before = text_.substr(0, at);
        const std::string_view line = before.substr(before.rfind('\n') + 1);
        return 1 + line.size() - static_cast<std::size_t>(std::ranges::count_if(line, is_continuation));
    }
};

}  // namespace json
