// The interface for writing a table: typed columns, and values in row order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace acre::tool {

enum class value_kind : std::uint8_t {
    number64,  // unsigned
    number32,  // unsigned
    real,
    truth,
    moment,  // microseconds since 1970, UTC
    text,
    word,  // one of a list of texts known in advance
};

struct column {
    std::string name;
    value_kind kind = value_kind::number64;
    bool optional = false;                            // a row may lack the value
    bool rises = false;                               // a number that mostly grows from row to row
    const std::vector<std::string>* words = nullptr;  // of kind word
};

/// Facts about the whole table, by name.
using table_notes = std::vector<std::pair<std::string, std::string>>;

/// A row takes one call a column, in order: the function of the column's kind, or nothing(). It ends with its last
/// value. Texts need not be valid UTF-8: writers make them valid.
class table_writer {
public:
    table_writer() = default;
    virtual ~table_writer() = default;
    table_writer(const table_writer&) = delete;
    table_writer& operator=(const table_writer&) = delete;

    virtual void number(std::uint64_t value) = 0;
    virtual void real(double value) = 0;
    virtual void truth(bool value) = 0;
    virtual void moment(std::int64_t microseconds) = 0;
    virtual void text(std::string_view value) = 0;
    virtual void word(std::uint32_t index) = 0;
    virtual void nothing() = 0;

    /// Writes buffered rows; the caller finishes the output.
    virtual void finish() = 0;

    // Values of optional columns.
    void number_if(bool known, std::uint64_t value) { known ? number(value) : nothing(); }
    void real_if(bool known, double value) { known ? real(value) : nothing(); }
    void moment_if(bool known, std::int64_t microseconds) { known ? moment(microseconds) : nothing(); }
    void word_if(bool known, std::uint32_t index) { known ? word(index) : nothing(); }
    void text_if_any(std::string_view value) { value.empty() ? nothing() : text(value); }
};

}  // namespace acre::tool
