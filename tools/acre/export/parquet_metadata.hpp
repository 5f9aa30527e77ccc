// How a Parquet file writes its metadata: Thrift's compact protocol, and the field numbers of parquet.thrift (Apache
// Parquet) that acre needs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/byte_sink.hpp"

namespace acre::tool::parquet {

template <typename Enum>
int number_of(Enum value) {
    return static_cast<int>(value);
}

/// Writes structs of numbered fields in ascending order, as much of the protocol as Parquet needs.
class thrift_sink {
public:
    /// Begins a struct that is not a field: the outermost one, or an element of a list.
    void begin() { last_fields_.push_back(0); }
    void end() {
        bytes_.byte(0);
        last_fields_.pop_back();
    }

    /// Begins a struct that is a field.
    void begin(int field) {
        head(field, struct_type);
        begin();
    }

    /// A field that is an empty struct; unions use it.
    void empty(int field) {
        begin(field);
        end();
    }

    void truth(int field, bool value) { head(field, value ? true_type : false_type); }
    void number8(int field, std::uint8_t value) {
        head(field, number8_type);
        bytes_.byte(value);
    }
    void number32(int field, std::int64_t value) {
        head(field, number32_type);
        bytes_.signed_number(value);
    }
    void number64(int field, std::int64_t value) {
        head(field, number64_type);
        bytes_.signed_number(value);
    }
    void text(int field, std::string_view value) {
        head(field, text_type);
        bytes_.text(value);
    }

    // Lists. The elements follow: begin() ... end(), number_element() or text_element(), `count` times.
    void structs(int field, std::size_t count) { list(field, struct_type, count); }
    void numbers32(int field, std::size_t count) { list(field, number32_type, count); }
    void texts(int field, std::size_t count) { list(field, text_type, count); }
    void number_element(std::int64_t value) { bytes_.signed_number(value); }
    void text_element(std::string_view value) { bytes_.text(value); }

    const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_.bytes(); }

private:
    static constexpr std::uint8_t true_type = 1;
    static constexpr std::uint8_t false_type = 2;
    static constexpr std::uint8_t number8_type = 3;
    static constexpr std::uint8_t number32_type = 5;
    static constexpr std::uint8_t number64_type = 6;
    static constexpr std::uint8_t text_type = 8;
    static constexpr std::uint8_t list_type = 9;
    static constexpr std::uint8_t struct_type = 12;
    static constexpr std::size_t long_list = 15;

    /// Within a struct, field numbers rise by at most 15, so one byte holds the step and the type.
    void head(int field, std::uint8_t type) {
        const int step = field - last_fields_.back();
        bytes_.byte(static_cast<std::uint8_t>(step << 4 | type));
        last_fields_.back() = field;
    }

    void list(int field, std::uint8_t type, std::size_t count) {
        head(field, list_type);
        const std::size_t shown = count < long_list ? count : long_list;
        bytes_.byte(static_cast<std::uint8_t>(shown << 4 | type));
        if (shown == long_list) bytes_.number(count);
    }

    byte_sink bytes_;
    std::vector<int> last_fields_;
};

inline constexpr std::string_view magic = "PAR1";

enum class physical_type : std::uint8_t { truth = 0, int32 = 1, int64 = 2, real = 5, bytes = 6 };
enum class repetition : std::uint8_t { required = 0, optional = 1 };
enum class converted_type : std::uint8_t { utf8 = 0, timestamp_micros = 10, unsigned32 = 13, unsigned64 = 14 };
enum class encoding : std::uint8_t { plain = 0, runs = 3, differences = 5, dictionary = 8 };
enum class page_type : std::uint8_t { data = 0, dictionary = 2 };
inline constexpr int zstd_codec = 6;

// The field numbers, by struct.
struct file_metadata {
    enum field { version = 1, schema, rows, row_groups, key_values, created_by, column_orders };
};
struct schema_element {
    enum field { type = 1, repetition = 3, name, children, converted_type, logical_type = 10 };
};
struct logical_type {
    enum field { text = 1, timestamp = 8, integer = 10 };
};
struct timestamp_type {
    enum field { adjusted_to_utc = 1, unit };
    enum unit_field { microseconds = 2 };
};
struct integer_type {
    enum field { bits = 1, is_signed };
};
struct row_group_metadata {
    enum field { columns = 1, bytes, rows };
};
struct column_chunk {
    enum field { file_offset = 2, metadata };
};
struct column_metadata {
    enum field {
        type = 1,
        encodings,
        path,
        codec,
        values,
        raw_bytes,
        compressed_bytes,
        data_page = 9,
        dictionary_page = 11,
        statistics
    };
};
struct column_statistics {
    enum field { nulls = 3, max = 5, min };
};
struct key_value {
    enum field { key = 1, value };
};
struct column_order {
    enum field { by_type = 1 };
};
struct page_header {
    enum field { type = 1, raw_bytes, compressed_bytes, data = 5, dictionary = 7 };
};
struct data_page {
    enum field { values = 1, encoding, definition_encoding, repetition_encoding };
};
struct dictionary_page {
    enum field { values = 1, encoding };
};

}  // namespace acre::tool::parquet
