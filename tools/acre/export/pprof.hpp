// The profile of pprof: profile.proto, compressed.
#pragma once

#include "byte_output.hpp"
#include "run_identity.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

void write_pprof(trace_reader& reader, const call_paths& paths, const run_identity& run, byte_output& output);

}  // namespace acre::tool
