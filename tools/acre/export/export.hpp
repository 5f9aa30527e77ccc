// Writes a trace in another tool's format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "profiles.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"
#include "trace_rows.hpp"

namespace acre::tool {

enum class export_format : std::uint8_t { parquet, pprof, collapsed, dhat, csv };

struct export_options {
    export_format format = export_format::parquet;
    std::filesystem::path output;      // "-": standard output
    std::optional<trace_table> table;  // without it parquet writes a folder of all tables, csv the sites
    stack_weight weight = stack_weight::bytes;
    std::string host;  // name of the recording's machine; may be empty
};

/// True when the export writes a folder.
bool needs_folder(const export_options& options);

/// The output file appears only when it is complete. Every failure throws tool_error.
void export_trace(trace_reader& reader, const call_paths& paths, const export_options& options);

}  // namespace acre::tool
