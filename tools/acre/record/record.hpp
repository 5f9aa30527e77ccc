// Records what a program allocates: starts it with the recorder preloaded, waits for its end and writes the trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// The smallest limit_bytes: room for the program's name, one chunk of rows and one of stacks.
inline constexpr std::uint64_t min_limit_bytes = 256 * 1024;

/// Without a limit of the user's: this, or half of what is free on the disk if that is less.
inline constexpr std::uint64_t default_limit_bytes = std::uint64_t{10} << 30;

struct record_options {
    std::vector<std::string> command;  // the program, which is searched in PATH, and its arguments
    std::filesystem::path output;      // the trace to write
    bool children = false;             // also record the processes that the program starts, each in its own trace
    bool stacks_at_free = true;
    stack_method stacks = stack_method::unwind_tables;
    bool paused = false;                // start paused
    int toggle_signal = 0;              // pauses and resumes when sent to the program or to this process; 0: none
    std::uint32_t sampling_period = 1;  // n: one allocation in n is recorded, on average
    std::optional<std::uint64_t>
        limit_bytes;                       // of all raw logs together; 0: no limit; nothing: see default_limit_bytes
    bool limit_is_disk_share = false;      // limit_bytes is what the disk has room for, not the user's
    std::filesystem::path recorder;        // libacre-record.so; empty: the one installed beside this command
    std::function<void(double)> progress;  // called with the progress of the conversion, from 0 to 1
};

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
