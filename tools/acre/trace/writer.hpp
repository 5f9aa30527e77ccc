// Writes a trace file: header and tables first, then the events in chunks, column by column, and the marks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "byte_sink.hpp"
#include "event_sections.hpp"
#include "format.hpp"
#include "live_table.hpp"
#include "made_sections.hpp"
#include "model.hpp"
#include "replacing_file.hpp"

namespace acre::tool {

/// The file gets its name in finish().
class trace_writer {
public:
    /// Throws tool_error if the file cannot be written or the tables are inconsistent.
    trace_writer(const std::filesystem::path& path, const trace_header& header, const trace_tables& tables);
    trace_writer(const trace_writer&) = delete;
    trace_writer& operator=(const trace_writer&) = delete;

    /// Objects must be numbered from 0 and freed at most once; otherwise throws tool_error, and nothing more can be
    /// added.
    void add(const event& e);

    /// As of event_sections.
    void add(const mark& m) { events_->add(m); }

    /// Writes the rest and gives the file its name.
    void finish();

    /// The same with sections made elsewhere, of all events, in place of those that were added.
    void finish(const made_sections& sections);

private:
    void write(std::span<const std::uint8_t> bytes);
    void write_section(format::section_kind kind, const byte_sink& payload);

    replacing_file file_;
    section_packer packer_;
    std::uint64_t file_bytes_ = 0;
    std::optional<event_sections> events_;
    live_table<std::uint32_t> places_;  // by object
    free_places free_;
};

}  // namespace acre::tool
