// Turns a raw log into a trace.
#pragma once

#include <filesystem>
#include <functional>

#include "raw_events.hpp"
#include "raw_reader.hpp"
#include "symbols.hpp"
#include "trace/model.hpp"

namespace acre::tool {

class converted_part;

struct conversion {
    std::uint64_t events = 0;
    std::uint64_t unmatched_frees = 0;
    std::uint64_t converted_early = 0;  // of the events: those converted while the program ran
    std::vector<std::string> notes;     // those of the header and those about the log
};

/// Why a recording in `folder` stopped, as the rest of "it stopped when ...", and what to do about it. Both are empty
/// if it did not stop.
struct stop_cause {
    std::string what;
    std::string remedy;
};
stop_cause cause_of(raw::stop_reason reason, const std::filesystem::path& folder);

/// CPU time that the recorder took in the recorded process. `end` as for convert.
std::uint64_t recording_microseconds(const raw_reader& log, raw::clock_pair end);

/// `header`: what the log does not contain, such as the exit status and the CPU times. An empty command is taken from
/// the log. `end`: see read_clocks(). `part`: what was converted while the program ran, of this log or another one.
conversion convert(const raw_reader& log, symbol_sources& symbols, trace_header header, raw::clock_pair end,
                   const std::filesystem::path& output, const std::function<void(double)>& progress,
                   converted_part* part = nullptr);

}  // namespace acre::tool
