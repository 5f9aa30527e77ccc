// Runs a program with the recorder preloaded until it ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "programs/program.hpp"
#include "raw_log.hpp"
#include "record_options.hpp"
#include "recording_memory.hpp"
#include "running_conversion.hpp"

namespace acre::tool {

struct finished_program {
    pid_t process = 0;
    int exit_status = 0;          // 128 + n if signal n ended it
    int ending_signal = 0;        // 0: it was not ended by one
    std::uint64_t user_time = 0;  // microseconds, without its children
    std::uint64_t system_time = 0;
    raw::clock_pair end{};
    std::unique_ptr<converted_part> converted;  // what was converted while it ran
    std::vector<std::string> left_running;      // processes that it started and did not wait for, each as "1234 (name)"
};

/// `raw_directory` must be absolute. Throws tool_error if the program cannot be started. While it runs, this process
/// ignores SIGPIPE, and SIGINT and SIGQUIT, which the terminal sends to both. It passes on the other signals whose
/// default is to end a process.
finished_program run_recorded(const record_options& options, const recordable_program& program,
                              const std::filesystem::path& recorder, const std::filesystem::path& raw_directory,
                              recording_memory& memory);

}  // namespace acre::tool
