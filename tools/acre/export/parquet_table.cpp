#include "parquet_table.hpp"

#include <numeric>
#include <utility>

#include "parquet_metadata.hpp"
#include "text/valid_text.hpp"

namespace acre::tool {

namespace {

using namespace parquet;

constexpr int format_version = 2;

void put_unsigned(thrift_sink& to, converted_type converted, std::uint8_t bits) {
    to.number32(schema_element::converted_type, number_of(converted));
    to.begin(schema_element::logical_type);
    to.begin(logical_type::integer);
    to.number8(integer_type::bits, bits);
    to.truth(integer_type::is_signed, false);
    to.end();
    to.end();
}

/// Adds the logical type.
void put_meaning(thrift_sink& to, value_kind kind) {
    switch (kind) {
        case value_kind::number64:
            return put_unsigned(to, converted_type::unsigned64, 64);
        case value_kind::number32:
            return put_unsigned(to, converted_type::unsigned32, 32);
        case value_kind::moment:
            to.number32(schema_element::converted_type, number_of(converted_type::timestamp_micros));
            to.begin(schema_element::logical_type);
            to.begin(logical_type::timestamp);
            to.truth(timestamp_type::adjusted_to_utc, true);
            to.begin(timestamp_type::unit);
            to.empty(timestamp_type::microseconds);
            to.end();
            to.end();
            return to.end();
        case value_kind::text:
        case value_kind::word:
            to.number32(schema_element::converted_type, number_of(converted_type::utf8));
            to.begin(schema_element::logical_type);
            to.empty(logical_type::text);
            return to.end();
        case value_kind::real:
        case value_kind::truth:
            return;
    }
}

}  // namespace

parquet_table::parquet_table(const std::vector<column>& columns, table_notes notes, byte_output& output)
    : columns_(columns.begin(), columns.end()), notes_{std::move(notes)}, output_{output} {
    write({reinterpret_cast<const std::uint8_t*>(magic.data()), magic.size()});
}

void parquet_table::number(std::uint64_t value) {
    values().number(value);
    next_column();
}

void parquet_table::real(double value) {
    values().real(value);
    next_column();
}

void parquet_table::truth(bool value) {
    values().truth(value);
    next_column();
}

void parquet_table::moment(std::int64_t microseconds) {
    number(static_cast<std::uint64_t>(microseconds));
}

void parquet_table::text(std::string_view value) {
    values().text(value);
    next_column();
}

void parquet_table::word(std::uint32_t index) {
    values().word(index);
    next_column();
}

void parquet_table::nothing() {
    values().nothing();
    next_column();
}

/// Goes to the next column; at the end of a row, counts it and writes a full row group.
void parquet_table::next_column() {
    next_ = (next_ + 1) % columns_.size();
    if (next_ != 0) return;
    ++rows_in_group_;
    const std::uint64_t texts =
        std::accumulate(columns_.begin(), columns_.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const column_values& each) { return sum + each.text_bytes(); });
    if (rows_in_group_ >= group_rows || texts >= group_text_bytes) write_group();
}

void parquet_table::write_group() {
    row_group& group = groups_.emplace_back();
    group.rows = std::exchange(rows_in_group_, 0);
    rows_ += group.rows;
    std::vector<std::uint8_t> pages;
    for (column_values& each : columns_) {
        pages.clear();
        chunk& made = group.chunks.emplace_back(each.take_pages(pages));
        made.offset = written_;
        write(pages);
    }
}

void parquet_table::finish() {
    if (rows_in_group_ != 0) write_group();
    write_metadata();
}

void parquet_table::write(std::span<const std::uint8_t> bytes) {
    output_.write(bytes);
    written_ += bytes.size();
}

void parquet_table::write_metadata() {
    thrift_sink to;
    to.begin();
    to.number32(file_metadata::version, format_version);
    put_schema(to);
    to.number64(file_metadata::rows, static_cast<std::int64_t>(rows_));
    to.structs(file_metadata::row_groups, groups_.size());
    for (const row_group& each : groups_) put_group(to, each);
    to.structs(file_metadata::key_values, notes_.size());
    for (const auto& [key, value] : notes_) {
        to.begin();
        to.text(key_value::key, key);
        to.text(key_value::value, valid_text(value));
        to.end();
    }
    to.text(file_metadata::created_by, "acre version " ACRE_VERSION " (build none)");
    // Without the orders readers ignore the bounds of unsigned numbers and texts.
    to.structs(file_metadata::column_orders, columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        to.begin();
        to.empty(column_order::by_type);
        to.end();
    }
    to.end();
    byte_sink tail;
    tail.little_endian(to.bytes().size(), 4);
    tail.append(magic);
    write(to.bytes());
    write(tail.bytes());
}

void parquet_table::put_schema(thrift_sink& to) const {
    to.structs(file_metadata::schema, columns_.size() + 1);
    to.begin();
    to.text(schema_element::name, "schema");
    to.number32(schema_element::children, static_cast<std::int64_t>(columns_.size()));
    to.end();
    for (const column_values& each : columns_) {
        const column& is = each.description();
        to.begin();
        to.number32(schema_element::type, number_of(physical_type_of(is.kind)));
        to.number32(schema_element::repetition, number_of(is.optional ? repetition::optional : repetition::required));
        to.text(schema_element::name, is.name);
        put_meaning(to, is.kind);
        to.end();
    }
}

void parquet_table::put_group(thrift_sink& to, const row_group& group) const {
    std::uint64_t bytes = 0;
    for (const chunk& each : group.chunks) bytes += each.raw_bytes;
    to.begin();
    to.structs(row_group_metadata::columns, group.chunks.size());
    for (std::size_t i = 0; i < group.chunks.size(); ++i) put_chunk(to, columns_[i].description(), group.chunks[i]);
    to.number64(row_group_metadata::bytes, static_cast<std::int64_t>(bytes));
    to.number64(row_group_metadata::rows, static_cast<std::int64_t>(group.rows));
    to.end();
}

void parquet_table::put_chunk(thrift_sink& to, const column& of, const chunk& chunk) const {
    to.begin();
    to.number64(column_chunk::file_offset, static_cast<std::int64_t>(chunk.offset));
    to.begin(column_chunk::metadata);
    to.number32(column_metadata::type, number_of(physical_type_of(of.kind)));
    to.numbers32(column_metadata::encodings, chunk.encodings.size());
    for (const encoding each : chunk.encodings) to.number_element(number_of(each));
    to.texts(column_metadata::path, 1);
    to.text_element(of.name);
    to.number32(column_metadata::codec, zstd_codec);
    to.number64(column_metadata::values, static_cast<std::int64_t>(chunk.rows));
    to.number64(column_metadata::raw_bytes, static_cast<std::int64_t>(chunk.raw_bytes));
    to.number64(column_metadata::compressed_bytes, static_cast<std::int64_t>(chunk.compressed_bytes));
    to.number64(column_metadata::data_page, static_cast<std::int64_t>(chunk.offset + chunk.dictionary_bytes));
    if (chunk.dictionary_bytes != 0) {
        to.number64(column_metadata::dictionary_page, static_cast<std::int64_t>(chunk.offset));
    }
    to.begin(column_metadata::statistics);
    to.number64(column_statistics::nulls, static_cast<std::int64_t>(chunk.nulls));
    if (chunk.has_bounds) {
        to.text(column_statistics::max, chunk.max);
        to.text(column_statistics::min, chunk.min);
    }
    to.end();
    to.end();
    to.end();
}

}  // namespace acre::tool
