// The JSON of valgrind's DHAT, as its viewer dh_view.html reads it.
#pragma once

#include "byte_output.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

void write_dhat(trace_reader& reader, const call_paths& paths, byte_output& output);

}  // namespace acre::tool
