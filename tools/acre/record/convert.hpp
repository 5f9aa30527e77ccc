// Makes a trace of a raw log.
#pragma once

#include <filesystem>
#include <functional>

#include "raw_events.hpp"
#include "raw_reader.hpp"
#include "trace/model.hpp"

namespace acre::tool {

struct conversion {
    std::uint64_t events = 0;
    std::uint64_t unmatched_frees = 0;
    std::vector<std::string> notes;  // those of the header and what the log itself tells
};

/// What stopped a recording, as "it stopped when ...", and what to do about it; both empty when nothing did.
struct stop_cause {
    std::string what;
    std::string remedy;
};
stop_cause cause_of(raw::stop_reason reason);

/// The clocks at a later moment than any in the log, so that its times can be told in nanoseconds; in doubt those of
/// now.
raw::clock_pair read_clocks();

/// What the recorder took of the process's CPU time while it wrote the log. `end` as for convert.
std::uint64_t recording_microseconds(const raw_reader& log, raw::clock_pair end);

/// `header` brings what the log does not know: how the program ended, and how long its recording took.
/// An empty command is taken from the log.
conversion convert(const raw_reader& log, trace_header header, raw::clock_pair end, const std::filesystem::path& output,
                   const std::function<void(double)>& progress);

}  // namespace acre::tool
