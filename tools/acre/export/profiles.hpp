// A trace as call stacks with figures, in the formats of three tools. Each function reads all events and finishes the
// output.
#pragma once

#include <cstdint>

#include "byte_output.hpp"
#include "run_identity.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// What the number at the end of a collapsed stack counts.
enum class stack_weight : std::uint8_t {
    bytes,  // allocated
    allocations,
    peak,      // bytes live at the program's peak
    lifetime,  // microseconds, summed over all objects
};

/// Collapsed stacks, which flame graph tools read: "main;parse;read_line 1234", one stack a line.
void write_collapsed(trace_reader& reader, const call_paths& paths, stack_weight weight, byte_output& output);

/// The JSON of valgrind's DHAT, for its viewer dh_view.html.
void write_dhat(trace_reader& reader, const call_paths& paths, byte_output& output);

/// pprof's profile.proto, compressed with gzip.
void write_pprof(trace_reader& reader, const call_paths& paths, const run_identity& run, byte_output& output);

}  // namespace acre::tool
