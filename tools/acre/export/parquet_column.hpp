// The values of one column of a Parquet file: buffered for a row group, then encoded into pages.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parquet_metadata.hpp"
#include "table.hpp"
#include "trace/byte_sink.hpp"

namespace acre::tool::parquet {

/// Packs the low `width` bits of each value, low bits first.
class bit_packer {
public:
    explicit bit_packer(byte_sink& to) : to_{to} {}

    void add(std::uint64_t value, unsigned width) {
        while (width > 0) {
            const unsigned taken = width < 8 - filled_ ? width : 8 - filled_;
            const auto part = static_cast<unsigned>(value & ((1U << taken) - 1));
            byte_ |= part << filled_;
            filled_ += taken;
            value >>= taken;
            width -= taken;
            if (filled_ == 8) end_byte();
        }
    }

    /// Fills the last byte with zero bits.
    void finish() {
        if (filled_ > 0) end_byte();
    }

private:
    void end_byte() {
        to_.byte(static_cast<std::uint8_t>(byte_));
        byte_ = 0;
        filled_ = 0;
    }

    byte_sink& to_;
    unsigned byte_ = 0;
    unsigned filled_ = 0;  // bits
};

/// Number of bits that hold every number up to `max`; at least 1.
inline unsigned bits_for(std::uint32_t max) {
    return max == 0 ? 1 : static_cast<unsigned>(std::bit_width(max));
}

/// Parquet's encoding RLE: values of 1 to 32 bits as runs of equal values and bit-packed groups of eight.
void encode_runs(byte_sink& to, std::span<const std::uint32_t> values, unsigned width);

/// Parquet's encoding DELTA_BINARY_PACKED: differences in blocks of 128, each minus the smallest of its block. `width`
/// is 32 or 64, for INT32 and INT64; differences wrap within it.
void encode_differences(byte_sink& to, std::span<const std::uint64_t> values, unsigned width);

/// What the file's metadata states about a column of a row group.
struct chunk {
    std::vector<encoding> encodings;
    std::uint64_t rows = 0;
    std::uint64_t nulls = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t dictionary_bytes = 0;  // at the start of compressed_bytes; 0: no dictionary
    std::uint64_t offset = 0;            // in the file
    bool has_bounds = false;
    std::string min;  // as plain values
    std::string max;
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

    /// Encodes the values added since the last call, and appends the pages to `pages`.
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
    std::vector<std::uint32_t> present_;  // by row: 1 if it has a value, else 0
    std::vector<std::uint64_t> numbers_;  // also booleans, and the bits of reals
    std::vector<std::string> texts_;      // the texts; in a column of words, the words used so far
    std::uint64_t text_bytes_ = 0;
    std::vector<std::uint32_t> indexes_;           // of words: positions in texts_
    std::vector<std::uint32_t> position_of_word_;  // position in texts_ + 1; 0: not used yet
};

}  // namespace acre::tool::parquet
