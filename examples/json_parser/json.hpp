// A document of JSON, in an arena: values, texts and lists lie there, and are gone with it at its reset.
#pragma once

#include <acre/arenas/arena.hpp>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace json {

enum class kind { null, boolean, number, text, array, object };

/// One value. Needs no destructor: what it points to is the arena's. The members of an object have names.
struct value {
    kind is = kind::null;
    bool truth = false;
    double number = 0;
    std::string_view text = {};
    std::string_view name = {};
    const value* first = nullptr;  // of an array or object
    std::size_t count = 0;

    std::span<const value> children() const { return {first, count}; }
};

/// What is wrong with a document, and where: the line and column of a character, counted from 1.
class parse_error : public std::runtime_error {
public:
    parse_error(std::size_t at_line, std::size_t at_column, const std::string& what)
        : std::runtime_error(what), line(at_line), column(at_column) {}

    const std::size_t line;
    const std::size_t column;
};

/// Arrays and objects may be nested so deep.
inline constexpr std::size_t max_depth = 500;

/// The document that `text` says, in `results`, which needs `text` no longer. Throws parse_error, and what `results`
/// throws; then `results` is as it was before.
const value& parse(std::string_view text, acre::arena& results);

}  // namespace json
