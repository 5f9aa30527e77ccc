// A trace as a file of another tool's format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "collapsed.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"
#include "trace_rows.hpp"

namespace acre::tool {

enum class export_format : std::uint8_t { parquet, pprof, collapsed, dhat, csv };

struct export_options {
    export_format format = export_format::parquet;
    std::filesystem::path output;      // "-": standard output
    std::optional<trace_table> table;  // of parquet: without, a folder of all; of csv: without, the sites
    stack_weight weight = stack_weight::bytes;
    std::string host;  // what the machine is called; may be empty
};

/// True when the export goes to a folder.
bool needs_folder(const export_options& options);

/// The output is there when it is whole; every failure throws tool_error.
void export_trace(trace_reader& reader, const call_paths& paths, const export_options& options);

}  // namespace acre::tool
