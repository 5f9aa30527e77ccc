// Records what a program allocates: starts it with the recorder preloaded, waits for its end and writes the trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// The least limit of the raw log: the program's name, a chunk of rows, a chunk of stacks.
inline constexpr std::uint64_t min_max_bytes = 256 * 1024;

struct record_options {
    std::vector<std::string> command;  // the program and its arguments; found in PATH like a shell does
    std::filesystem::path output;      // the trace to write
    bool children = false;             // also the processes that the program starts, each in a trace of its own
    bool stacks_at_free = true;
    stack_method stacks = stack_method::unwind_tables;
    bool paused = false;                   // begins so
    int toggle_signal = 0;                 // which, sent to the program or to this process, pauses and resumes; 0: none
    std::uint32_t sampling_period = 1;     // one allocation in so many is recorded, on average
    std::uint64_t max_bytes = 0;           // of the raw log of one process; 0: no limit
    std::filesystem::path recorder;        // libacre-record.so; empty: the one installed beside this command
    std::function<void(double)> progress;  // told how much of the conversion is done, from 0 to 1
};

struct record_result {
    int exit_status = 0;  // the program's, as a shell says it: 128 + n when signal n ended it
    std::uint64_t events = 0;
    std::uint64_t unmatched_frees = 0;
    std::vector<std::filesystem::path> traces;  // written; the first is that of the process started
    std::vector<std::string> notes;             // sentences for the user; those about a trace stand in it as well
};

/// Throws tool_error, before anything is started or written, when the program cannot be recorded or the trace cannot be
/// written; and when the program ended without having recorded anything.
record_result record(const record_options& options);

/// Turns what a killed `acre record` left behind (its directory TRACE.raw-XXXXXX, or one file in it) into a trace.
/// The raw log stays; throws tool_error when it is not one.
record_result finish_raw_log(const std::filesystem::path& raw, const std::filesystem::path& output,
                             std::function<void(double)> progress = {});

}  // namespace acre::tool
