// The memory that this process shares with those that it records; raw_memory.hpp describes its contents.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "raw_memory.hpp"

namespace acre::tool {

/// What a recorded process said about itself or a child.
struct process_report {
    raw::report_kind kind{};
    std::uint32_t process = 0;
    std::string name;
    int error = 0;
};

/// All reports of a recording.
struct process_reports {
    std::vector<process_report> all;
    std::uint64_t more = 0;  // for which there was no room
};

/// The reports in a raw directory, by processes that could not reach the memory.
std::vector<process_report> reports_in(const std::filesystem::path& directory);

/// If the system gives no such memory, the recorded processes use memory of their own.
class recording_memory {
public:
    /// `log_limit`: bytes of all logs together; 0: none.
    explicit recording_memory(std::uint64_t log_limit);
    ~recording_memory();
    recording_memory(const recording_memory&) = delete;
    recording_memory& operator=(const recording_memory&) = delete;

    /// The path by which other processes open the memory, as long as this one lives; empty if there is none.
    const std::string& path() const noexcept { return path_; }

    /// Writes what waits of processes that have ended, and gives the memory back, if much of it is in use.
    void give_back(const std::filesystem::path& directory);

    /// Makes all processes stop recording.
    void end();

    /// Writes what waits in memory to the logs in the raw directory; after end(). Returns the processes whose logs are
    /// gone.
    std::vector<raw::process_identity> write_waiting(const std::filesystem::path& directory) const;

    /// The descriptor of the memory; -1 if there is none.
    int descriptor() const noexcept { return head_ == nullptr ? -1 : file_; }

    /// The regions in use so far; the first one is not a process's.
    std::uint32_t regions() const noexcept;

    /// The log that a region belongs to, once it is known; empty before. `is_first`: whether the region has the log's
    /// head.
    std::string log_of(std::uint32_t region, bool& is_first) const;

    /// The reports in memory and those in the raw directory.
    process_reports reports(const std::filesystem::path& directory) const;

private:
    int file_ = -1;
    raw::memory_head* head_ = nullptr;
    std::string path_;
    std::uint32_t given_back_ = 1;  // the regions before this one have been
};

/// Gives memory back now and then, in a thread of its own.
class memory_keeper {
public:
    memory_keeper(recording_memory& memory, const std::filesystem::path& directory);

private:
    std::jthread thread_;
};

}  // namespace acre::tool
