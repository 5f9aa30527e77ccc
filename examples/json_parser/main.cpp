// A JSON parser whose values and texts lie in an arena, and a program that checks documents with it.
//
// It shows a tree in an arena, a thread_scratch for the stack of incomplete lists, an arena_vector and an arena_string
// that grow in place, a rewind that removes an invalid document, and errors with line and column. Copy it for parsers
// and compilers: many small nodes that die together.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "json.hpp"

namespace {

constexpr const char* usage =
    "Usage: json_parser [FILE...]\n"
    "Checks documents of JSON, or the one on standard input, and prints each without spaces.\n"
    "Exits with 1 when one was wrong, with 2 when one could not be read.\n";

void write_text(std::string_view text, acre::arena_string& to) {
    to += '"';
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ') {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            to += escaped;
        } else {
            if (c == '"' || c == '\\') to += '\\';
            to += c;
        }
    }
    to += '"';
}

void write(const json::value& written, acre::arena_string& to);

void write_list(const json::value& written, acre::arena_string& to) {
    for (const json::value& each : written.children()) {
        if (&each != written.first) to += ',';
        if (written.is == json::kind::object) {
            write_text(each.name, to);
            to += ':';
        }
        write(each, to);
    }
}

void write(const json::value& written, acre::arena_string& to) {
    char digits[32];
    switch (written.is) {
        case json::kind::null:
            to += "null";
            break;
        case json::kind::boolean:
            to += written.truth ? "true" : "false";
            break;
        case json::kind::number:
            to += {digits, std::to_chars(digits, std::end(digits), written.number).ptr};
            break;
        case json::kind::text:
            write_text(written.text, to);
            break;
        case json::kind::array:
            to += '[';
            write_list(written, to);
            to += ']';
            break;
        case json::kind::object:
            to += '{';
            write_list(written, to);
            to += '}';
    }
}

// Returns 0, or 1 when the document is invalid, or 2 when it cannot be read.
int check(std::istream& input, const char* name, acre::arena& memory) {
    const std::string text{std::istreambuf_iterator<char>{input}, {}};
    if (!input) {
        std::fprintf(stderr, "json_parser: cannot read '%s'\n", name);
        return 2;
    }
    try {
        const json::value& document = json::parse(text, memory);
        acre::arena_string line{memory};
        write(document, line);
        std::puts(line.c_str());
        return 0;
    } catch (const json::parse_error& error) {
        std::fprintf(stderr, "%s:%zu:%zu: %s\n", name, error.line, error.column, error.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    acre::arena memory;
    if (argc == 1) return check(std::cin, "standard input", memory);
    if (std::string_view{argv[1]} == "--help") return std::fputs(usage, stdout) < 0 ? 2 : 0;
    int worst = 0;
    for (int i = 1; i < argc; ++i) {
        std::ifstream file{argv[i], std::ios::binary};
        worst = std::max(worst, check(file, argv[i], memory));
        memory.reset();  // frees the whole document; the next one reuses its memory
    }
    return worst;
}
