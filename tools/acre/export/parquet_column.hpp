// The values of one column of a Parquet file, kept for a row group and then made into pages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parquet_format.hpp"
#include "table.hpp"
#include "trace/byte_sink.hpp"

namespace acre::tool::parquet {

/// What the file's metadata says of a column of a row group.
struct chunk {
    std::vector<encoding> encodings;
    std::uint64_t rows = 0;
    std::uint64_t nulls = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t dictionary_bytes = 0;  // the first of the compressed ones; 0: there is no dictionary
    std::uint64_t offset = 0;            // in the file
    bool has_bounds = false;
    std::string least;  // as plain values
    std::string most;
};

physical_type physical_type_of(value_kind kind);

class column_values {
public:
    explicit column_values(column description) : description_{std::move(description)} {}

    const column& description() const noexcept { return description_; }
    std::uint64_t text_bytes() const noexcept { return text_bytes_; }

    void number(std::uint64_t value) {
        present_.push_back(1);
        numbers_.push_back(value);
    }
    void real(double value);
    void truth(bool value) { number(value ? 1 : 0); }
    void text(std::string_view value);
    void word(std::uint32_t index);
    void nothing() { present_.push_back(0); }

    /// The pages of what was given since the last time, appended to `pages`.
    chunk take_pages(std::vector<std::uint8_t>& pages);

private:
    byte_sink definition_levels() const;
    encoding put_values(byte_sink& page, byte_sink& dictionary, std::size_t& dictionary_values) const;
    encoding put_numbers(byte_sink& page, byte_sink& dictionary, std::size_t& dictionary_values) const;
    void put_plain(byte_sink& to, std::uint64_t number) const;
    unsigned width() const noexcept;
    bool is_below(std::uint64_t a, std::uint64_t b) const noexcept;
    void find_bounds(chunk& made) const;
    void find_bounds(chunk& made, std::span<const std::string> texts) const;
    void clear();

    column description_;
    std::vector<std::uint32_t> present_;  // for each row 1, or 0 where there is nothing
    std::vector<std::uint64_t> numbers_;  // also truths, and the bits of reals
    std::vector<std::string> texts_;      // of a column of texts; of one of words, those that are used
    std::uint64_t text_bytes_ = 0;
    std::vector<std::uint32_t> indexes_;        // of words: places in texts_
    std::vector<std::uint32_t> place_of_word_;  // in texts_, + 1; 0: not there
};

}  // namespace acre::tool::parquet
