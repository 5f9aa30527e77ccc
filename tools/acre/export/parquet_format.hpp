// The numbers of Parquet's metadata (parquet.thrift of the Apache Parquet project) that acre writes.
#pragma once

#include <cstdint>
#include <string_view>

namespace acre::tool::parquet {

inline constexpr std::string_view magic = "PAR1";

enum class physical_type : std::uint8_t { truth = 0, int32 = 1, int64 = 2, real = 5, bytes = 6 };
enum class repetition : std::uint8_t { required = 0, optional = 1 };
enum class converted_type : std::uint8_t { utf8 = 0, timestamp_micros = 10, unsigned32 = 13, unsigned64 = 14 };
enum class encoding : std::uint8_t { plain = 0, runs = 3, differences = 5, dictionary = 8 };
enum class page_type : std::uint8_t { data = 0, dictionary = 2 };
inline constexpr int zstd_codec = 6;

/// Numbers of fields, by struct.
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
    enum field { nulls = 3, most = 5, least };
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
