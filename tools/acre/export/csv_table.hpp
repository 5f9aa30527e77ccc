// A table as comma-separated values by RFC 4180: a header line, lines that end in CRLF, quotes where needed.
#pragma once

#include <string>
#include <vector>

#include "byte_output.hpp"
#include "table.hpp"

namespace acre::tool {

/// A missing value is an empty field, an empty text is "".
class csv_table : public table_writer {
public:
    /// The output must outlive the table.
    csv_table(std::vector<column> columns, byte_output& output);

    void number(std::uint64_t value) override;
    void real(double value) override;
    void truth(bool value) override;
    void moment(std::int64_t microseconds) override;
    void text(std::string_view value) override;
    void word(std::uint32_t index) override;
    void nothing() override;
    void finish() override;

private:
    void field(std::string_view written);
    void write_lines();

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> quoted_words_;  // by column; filled when first used
    byte_output& output_;
    std::size_t next_ = 0;  // position of the next column
    std::string lines_;
};

}  // namespace acre::tool
