// What `acre record` is asked to do.
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

}  // namespace acre::tool
