// Writes a trace file: header and tables first, then the events in chunks, column by column, and the marks.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "byte_sink.hpp"
#include "event_context.hpp"
#include "format.hpp"
#include "model.hpp"
#include "replacing_file.hpp"

namespace acre::tool {

/// The file gets its name in finish().
class trace_writer {
public:
    /// Throws tool_error if the file cannot be written or the tables are inconsistent.
    trace_writer(const std::filesystem::path& path, const trace_header& header, const trace_tables& tables);

    /// Objects must be numbered from 0 and freed at most once; otherwise throws tool_error, and nothing more can be
    /// added.
    void add(const event& e);

    /// Adds a mark after the last event; ignores its `event`. Throws tool_error if it ends a scope that is not the
    /// innermost of its thread.
    void add(const mark& m);

    /// Writes the rest and gives the file its name.
    void finish();

private:
    byte_sink& column(format::column which) noexcept { return columns_[static_cast<std::size_t>(which)]; }
    void check(const event& e);
    void append(const event& e);
    void append_object(const event& e);
    void append_time(std::uint64_t time);
    void end_run();
    void write_chunk();
    void write_marks();
    void write_end();
    void write_section(format::section_kind kind, std::span<const byte_sink* const> frames, std::uint64_t entries = 0);
    std::uint64_t least_bytes(std::uint64_t entries) const;
    void pad(std::uint64_t bytes);
    void write_section(format::section_kind kind, const byte_sink& payload);

    replacing_file file_;
    std::vector<std::uint8_t> compressed_;

    event_context context_;
    std::array<byte_sink, format::column_count> columns_;
    byte_sink marks_;
    open_scopes scopes_;
    std::size_t nodes_ = 0;
    std::size_t scope_names_ = 0;
    std::uint64_t file_bytes_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t objects_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t chunk_first_event_ = 0;
    std::uint64_t chunk_first_object_ = 0;
    std::uint64_t previous_tick_ = 0;
    std::uint64_t run_ = 0;  // events at that tick so far, in this chunk
    std::uint64_t mark_count_ = 0;
    std::uint64_t chunk_first_mark_ = 0;
    std::uint64_t previous_mark_tick_ = 0;
    std::uint64_t previous_mark_event_ = 0;
    std::uint32_t previous_thread_ = 0;
    std::uint32_t threads_ = 0;
};

}  // namespace acre::tool
