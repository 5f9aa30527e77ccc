// A table on its way into a file: typed columns, and values given row after row.
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
    word,  // one of a list of texts that is known beforehand
};

struct column {
    std::string name;
    value_kind kind = value_kind::number64;
    bool optional = false;                            // a row may have nothing there
    bool rises = false;                               // a number that mostly grows, or grows again, from row to row
    const std::vector<std::string>* words = nullptr;  // of kind word
};

/// What a reader should know of the whole table, by name.
using table_notes = std::vector<std::pair<std::string, std::string>>;

/// The values of a row are given in the order of the columns, each by the function of its kind or by nothing(); the row
/// ends with its last value. Texts need not be valid UTF-8: writers see to it.
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

    /// Writes what is left; the output is the caller's to finish.
    virtual void finish() = 0;

    // Values of optional columns.
    void number_if(bool known, std::uint64_t value) { known ? number(value) : nothing(); }
    void real_if(bool known, double value) { known ? real(value) : nothing(); }
    void moment_if(bool known, std::int64_t microseconds) { known ? moment(microseconds) : nothing(); }
    void word_if(bool known, std::uint32_t index) { known ? word(index) : nothing(); }
    void text_if_any(std::string_view value) { value.empty() ? nothing() : text(value); }
};

}  // namespace acre::tool
