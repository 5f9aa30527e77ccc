// A table as an Apache Parquet file: flat, pages compressed with zstd, written in one pass. Memory: one row group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "byte_output.hpp"
#include "parquet_column.hpp"
#include "table.hpp"

namespace acre::tool {

class parquet_table : public table_writer {
public:
    /// The output must outlive the table.
    parquet_table(const std::vector<column>& columns, table_notes notes, byte_output& output);

    void number(std::uint64_t value) override;
    void real(double value) override;
    void truth(bool value) override;
    void moment(std::int64_t microseconds) override;
    void text(std::string_view value) override;
    void word(std::uint32_t index) override;
    void nothing() override;
    void finish() override;

    // A row group ends when it reaches one of these.
    static constexpr std::uint64_t group_rows = 1 << 18;
    static constexpr std::uint64_t group_text_bytes = 32 << 20;

private:
    struct row_group {
        std::vector<parquet::chunk> chunks;
        std::uint64_t rows = 0;
    };

    parquet::column_values& values() noexcept { return columns_[next_]; }
    void next_column();
    void write_group();
    void write(std::span<const std::uint8_t> bytes);
    void write_metadata();
    void put_schema(parquet::thrift_sink& to) const;
    void put_group(parquet::thrift_sink& to, const row_group& group) const;
    void put_chunk(parquet::thrift_sink& to, const column& of, const parquet::chunk& chunk) const;

    std::vector<parquet::column_values> columns_;
    table_notes notes_;
    byte_output& output_;
    std::vector<row_group> groups_;
    std::size_t next_ = 0;  // position of the next column
    std::uint64_t rows_in_group_ = 0;
    std::uint64_t rows_ = 0;
    std::uint64_t written_ = 0;  // bytes
};

}  // namespace acre::tool
