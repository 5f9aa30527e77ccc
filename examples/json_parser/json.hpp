// A JSON document in an arena: the arena holds its values, texts and lists, and frees them at its reset.
#pragma once

#include <acre/arenas/arena.hpp>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace json {

enum class kind { null, boolean, number, text, array, object };

/// One value. It needs no destructor, because it points only into the arena. The members of an object have names.
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

/// The maximum nesting depth of arrays and objects.
inline constexpr std::size_t max_depth = 500;

/// Parses `text` into `results`; `text` may be freed afterwards. Throws parse_error, and what `results` throws. After a
/// throw `results` is as it was before.
const value& parse(std::string_view text, acre::arena& results);

}  // namespace json
