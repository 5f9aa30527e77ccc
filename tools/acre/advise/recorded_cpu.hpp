// The CPU time that savings are compared with.
#pragma once

#include <cstdint>

#include "trace/reader.hpp"

namespace acre::tool {

/// Nanoseconds that the recorded run took, without its recording; 0 where that is not known, or where only a part of
/// the run was recorded: it was paused, stopped early, or the trace is cut off.
std::uint64_t recorded_cpu_nanoseconds(trace_reader& reader);

}  // namespace acre::tool
