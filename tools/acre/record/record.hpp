// Records what a program allocates: starts it with the recorder preloaded, waits for its end and writes the trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record_options.hpp"

namespace acre::tool {

struct record_result {
    int exit_status = 0;  // of the program; 128 + n if signal n ended it
    std::uint64_t events = 0;
    std::uint64_t unmatched_frees = 0;
    std::uint64_t converted_early = 0;          // of the events: those converted while the program ran
    std::vector<std::filesystem::path> traces;  // the first is that of the started process
    std::vector<std::string> notes;             // sentences for the user; those about a trace are in it as well
    std::string why_nothing;                    // why there is no trace; empty if there is one
    bool is_failure = false;                    // nothing was recorded because something prevented it
};

/// Throws tool_error before it starts or writes anything if the program cannot be recorded or the trace cannot be
/// written, and later if something prevented the recording. If there was nothing to record, the result has no trace.
record_result record(const record_options& options);

/// Turns the raw log that a killed `acre record` left behind into a trace: its directory TRACE.raw-XXXXXX or one file
/// in it. Leaves the raw log in place; throws tool_error if there is none.
record_result finish_raw_log(const std::filesystem::path& raw, const std::filesystem::path& output,
                             const std::function<void(double)>& progress = {});

}  // namespace acre::tool
