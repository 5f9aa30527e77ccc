// Converts the log of the recorded program while it runs, in a thread of its own, so that little is left to do when the
// program has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "raw_events.hpp"
#include "recording_memory.hpp"
#include "row_tail.hpp"
#include "trace/event_sections.hpp"
#include "trace/made_sections.hpp"

namespace acre::tool {

/// The part of a log that was converted so far. It may turn out to be unusable: the log is converted anew then.
class converted_part {
public:
    converted_part(int memory, const std::filesystem::path& directory, const std::string& log, std::uint32_t region);

    row_tail& tail() noexcept { return tail_; }

    /// Converts what had come at the moment `now`, from before the program's regions were looked for, until there is no
    /// more or a stop is requested. Returns the number of new rows.
    std::uint64_t go_on(raw::clock_pair now, const std::stop_token& stop);

    /// Converts the rest, after the program's end.
    void catch_up(raw::clock_pair now);

    /// Whether this is a part of that log that finish() can go on from.
    bool is_of(const raw_reader& log) const;

    /// Converts the rest. `end`: as for convert.
    void finish(const raw_reader& log, raw::clock_pair end);

    const raw_events& events() const noexcept { return events_; }

    /// Events that were converted while the program ran.
    std::uint64_t events_early() const noexcept { return events_early_; }
    const made_sections& sections() const noexcept { return sections_; }

private:
    void add(const placed_event& each);

    row_tail tail_;
    raw_events events_;
    made_sections sections_;
    event_sections encoder_;
    std::size_t nodes_ = 0;  // that the encoder expects
    std::uint64_t events_early_ = 0;
    bool has_failed_ = false;  // or cannot succeed
};

class running_conversion {
public:
    /// Begins. `process`: the number of the program, whose newest log is converted. Nothing is done where there is only
    /// one processor, or no thread can be had.
    running_conversion(const recording_memory& memory, const std::filesystem::path& directory, pid_t process);

    /// Stops, after the program's end. Null if nothing was converted. All is converted here that can be: a process that
    /// is forked to write the trace would have to copy the tables that it changes.
    std::unique_ptr<converted_part> end();

private:
    void run(const std::stop_token& stop);
    void find_logs();
    bool has_found_logs();

    const recording_memory& memory_;
    std::filesystem::path directory_;
    std::string prefix_;             // of the names of the process's logs
    std::uint32_t next_region_ = 1;  // that was not looked at
    std::unique_ptr<converted_part> part_;
    std::mutex waiting_;
    std::jthread thread_;
};

}  // namespace acre::tool
