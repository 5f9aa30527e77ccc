// Runs a program once and measures it: CPU time, wall time, peak memory, page faults.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace acre::tool {

/// A program to run. The descriptors stay open and are read and written from where they are.
struct run_request {
    std::filesystem::path program;
    std::vector<std::string> arguments;                            // the first is the name under which it is called
    std::vector<std::pair<std::string, std::string>> variables{};  // of its environment, set or replaced
    int input = 0;
    int output = 1;
    int errors = 2;
    double max_seconds = 0;  // it is killed after that time; 0: no limit
    bool huge_pages = true;  // false: the system gives it no transparent huge pages
};

/// Times in seconds. They include the processes that the program started and waited for; peak_bytes is that of the
/// largest one of them.
struct measured_run {
    double user = 0;
    double system = 0;
    double wall = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t minor_faults = 0;  // pages that the system gave without reading them from a file
    std::uint64_t major_faults = 0;
    int exit_status = 0;
    int ending_signal = 0;  // 0: it was not ended by one
    bool was_too_slow = false;
    bool was_interrupted = false;
    std::uint32_t left_running = 0;  // processes that were ended after it

    double cpu() const noexcept { return user + system; }
};

inline double peak_of(const measured_run& run) noexcept {
    return static_cast<double>(run.peak_bytes);
}

/// Runs the program in a process group of its own until it ends; what it leaves running is killed, also where acre is.
/// Throws tool_error when it cannot be started.
measured_run run_measured(const run_request& request);

/// Linux counts the memory that a process had before it executed a program as the program's. So where this process has
/// much memory, run_measured executes acre anew, which has little, and that process runs the program. To be called
/// first in main: true where this is such a process, and its work is done. Where it was not called, run_measured runs
/// all programs from this process.
bool is_measuring_process(int count, char** arguments);

/// While an object of this class lives, SIGINT, SIGTERM and SIGHUP end the program that runs, and only set a flag here.
class interruption_watch {
public:
    interruption_watch();
    ~interruption_watch();
    interruption_watch(const interruption_watch&) = delete;
    interruption_watch& operator=(const interruption_watch&) = delete;

    static bool was_interrupted() noexcept;
};

}  // namespace acre::tool
