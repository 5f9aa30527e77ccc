// Runs a program to its end with the recorder preloaded.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "program.hpp"
#include "raw_log.hpp"
#include "record.hpp"

namespace acre::tool {

struct finished_program {
    pid_t process = 0;
    int exit_status = 0;          // as a shell says it
    std::uint64_t user_time = 0;  // microseconds of its own, without those of its children
    std::uint64_t system_time = 0;
    raw::clock_pair end{};
    std::vector<std::string> left_running;  // what it started and did not wait for, each as "1234 (name)"
};

/// `raw_directory` is absolute. Throws tool_error when the program cannot be started. While it runs, what the terminal
/// sends to interrupt is left to it, and what asks this process to end is passed on.
finished_program run_recorded(const record_options& options, const recordable_program& program,
                              const std::filesystem::path& recorder, const std::filesystem::path& raw_directory);

}  // namespace acre::tool
