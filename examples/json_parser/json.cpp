#include "json.hpp"

#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "reader.hpp"

namespace json {
namespace {

class parser : reader {
public:
    parser(std::string_view text, acre::arena& results)
        : reader(text), results_(results), temp_(acre::thread_scratch(results)), open_elements_(temp_) {}

    const value& document() {
        const value root = any_value(0);
        skip_space();
        if (at_ != text_.size()) fail("the document is complete, but then there is " + found());
        return *results_.create<value>(root);
    }

private:
    value any_value(std::size_t depth) {
        skip_space();
        switch (next()) {
            case '[':
                return list(kind::array, ']', depth);
            case '{':
                return list(kind::object, '}', depth);
            case '"':
                return {.is = kind::text, .text = text()};
            case 't':
                return word("true", {.is = kind::boolean, .truth = true});
            case 'f':
                return word("false", {.is = kind::boolean});
            case 'n':
                return word("null", {});
            default:
                return number();
        }
    }

    // The elements of all open lists lie on one stack. When a list is complete, its elements are the topmost.
    value list(kind is, char closing, std::size_t depth) {
        const std::size_t opened = at_++;
        const std::size_t begin = open_elements_.size();
        if (depth == max_depth) fail("nested more than " + std::to_string(max_depth) + " deep", opened);
        skip_space();
        for (bool complete = accept(closing); !complete; complete = accept(closing)) {
            if (open_elements_.size() > begin && !accept(',')) {
                fail("expected ',' or '" + std::string{closing} + "', found " + found() + "; the '" + text_[opened] +
                     "' at " + position_text(opened) + " is open");
            }
            const std::string_view name = is == kind::object ? member_name() : std::string_view{};
            open_elements_.push_back(any_value(depth + 1));
            open_elements_.back().name = name;
            skip_space();
        }
        const std::span<const value> elements = std::span<const value>{open_elements_}.subspan(begin);
        const value made{.is = is, .first = results_.copy(elements).data(), .count = elements.size()};
        open_elements_.resize(begin);
        return made;
    }

    std::string_view member_name() {
        skip_space();
        if (next() != '"') fail("expected the name of a member, in quotes, found " + found());
        const std::string_view name = text();
        skip_space();
        if (!accept(':')) fail("expected ':' after the name of a member, found " + found());
        return name;
    }

    std::string_view text() {
        const std::size_t opened = at_++;
        acre::arena_string characters{results_};
        for (;;) {
            const auto is_plain = [](char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' '; };
            const std::string_view rest = text_.substr(at_);
            const auto end = std::ranges::find_if_not(rest, is_plain);
            characters.append(rest.substr(0, static_cast<std::size_t>(end - rest.begin())));
            at_ += static_cast<std::size_t>(end - rest.begin());
            if (accept('"')) return characters.detach();
            if (next() != '\\')
                fail("a text is not closed before " + found() + "; it began at " + position_text(opened));
            escape(characters);
        }
    }

    void escape(acre::arena_string& to) {
        constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        const std::size_t begun = at_++;
        if (accept('u')) return append_utf8(to, code_point(begun));
        const std::size_t which = at_ == text_.size() ? std::string_view::npos : names.find(next());
        if (which == std::string_view::npos) fail("there is no such escape as \\ with " + found(), begun);
        to.push_back(meanings[which]);
        ++at_;
    }

    // Parses the digits after \u. Characters beyond 0xffff are written as two escapes.
    unsigned code_point(std::size_t begun) {
        const unsigned code = four_hexadecimal_digits();
        if (code < 0xd800 || code > 0xdfff) return code;
        if (code <= 0xdbff && accept('\\') && accept('u')) {
            const unsigned second = four_hexadecimal_digits();
            if (second >= 0xdc00 && second <= 0xdfff) return 0x10000 + (code - 0xd800) * 0x400 + (second - 0xdc00);
        }
        fail("half a pair of surrogates", begun);
    }

    unsigned four_hexadecimal_digits() {
        unsigned code = 0;
        const std::string_view digits = text_.substr(at_, 4);
        const char* end = digits.data() + digits.size();
        if (digits.size() != 4 || std::from_chars(digits.data(), end, code, 16).ptr != end)
            fail("expected four hexadecimal digits after \\u");
        at_ += 4;
        return code;
    }

    static void append_utf8(acre::arena_string& to, unsigned code) {
        const auto byte = [&](unsigned bits) { to.push_back(static_cast<char>(bits)); };
        if (code < 0x80) return byte(code);
        if (code < 0x800) {
            byte(0xc0 | code >> 6);
        } else if (code < 0x10000) {
            byte(0xe0 | code >> 12);
            byte(0x80 | (code >> 6 & 0x3f));
        } else {
            byte(0xf0 | code >> 18);
            byte(0x80 | (code >> 12 & 0x3f));
            byte(0x80 | (code >> 6 & 0x3f));
        }
        byte(0x80 | (code & 0x3f));
    }

    value number() {
        const std::size_t begun = at_;
        if (!accept('-') && !is_digit(next())) fail("expected a value, found " + found());
        if (!accept('0')) digits();
        if (accept('.')) digits();
        if (accept('e') || accept('E')) {
            if (!accept('+')) accept('-');
            digits();
        }
        double parsed = 0;
        if (std::from_chars(text_.data() + begun, text_.data() + at_, parsed).ec != std::errc{})
            fail("a number that is too large or too small", begun);
        return {.is = kind::number, .number = parsed};
    }

    void digits() {
        if (!is_digit(next())) fail("expected a digit, found " + found());
        while (is_digit(next())) ++at_;
    }

    value word(std::string_view expected, const value& meaning) {
        if (!text_.substr(at_).starts_with(expected))
            fail("expected a value; did you mean " + std::string{expected} + "?");
        at_ += expected.size();
        return meaning;
    }

    acre::arena& results_;
    acre::scratch temp_;
    acre::arena_vector<value, acre::scratch> open_elements_;
};

}  // namespace

const value& parse(std::string_view text, acre::arena& results) {
    const acre::arena::mark_type before = results.mark();
    try {
        return parser{text, results}.document();
    } catch (...) {
        results.rewind(before);
        throw;
    }
}

}  // namespace json
