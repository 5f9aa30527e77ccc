// Reads a raw log for conversion. The file is untrusted: it may be cut off anywhere, or not be a raw log at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "raw_log.hpp"

namespace acre::tool {

/// A file mapped for reading. The file must not shrink meanwhile.
class mapped_file {
public:
    explicit mapped_file(const std::filesystem::path& path);  // throws tool_error
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    std::span<const std::byte> bytes() const noexcept { return bytes_; }

    /// Drops the pages of a part from this process's memory; they are read again on the next access.
    void let_go(std::span<const std::byte> part) const noexcept;

private:
    std::span<const std::byte> bytes_;
};

/// Consecutive rows of a thread.
using raw_rows = std::span<const raw::row>;

struct raw_module {
    std::string path;
    std::string build_id;  // lower-case hexadecimal
    std::uint64_t load_bias = 0;
    raw::file_identity file{};
};

/// Where a raw directory lies.
std::filesystem::path folder_of_recording(const std::filesystem::path& raw_directory);

class raw_reader {
public:
    /// Throws tool_error if the file is not a raw log.
    explicit raw_reader(const std::filesystem::path& path);

    /// The file's name, without its folder.
    const std::string& name() const noexcept { return name_; }
    /// The folder in which the recording was made: that of the raw directory.
    const std::filesystem::path& folder() const noexcept { return folder_; }

    bool has_flag(std::uint32_t flag) const noexcept { return (flags_ & flag) != 0; }
    const raw::process_identity& process() const noexcept { return process_; }
    raw::clock_pair start() const noexcept { return start_; }
    raw::clock_pair last_clock() const noexcept { return last_clock_; }  // the latest in the file
    std::uint64_t start_of_day() const noexcept { return start_of_day_; }
    /// Whether the log holds all rows up to its end; otherwise the last ones of each thread may be missing.
    bool is_whole() const noexcept { return waiting_written_; }

    raw::stop_reason stopped() const noexcept { return stopped_; }
    raw::stack_method stacks() const noexcept { return stacks_; }
    std::uint32_t sampling_period() const noexcept { return sampling_period_; }

    /// Time that the recorder took in the recorded process.
    std::uint64_t own_ticks() const noexcept { return own_ticks_; }
    std::uint64_t own_nanoseconds() const noexcept { return own_nanoseconds_; }

    /// Events that are missing because signal handlers interrupted the recorder.
    std::uint64_t lost() const noexcept { return lost_; }

    /// The path of the file that the program's malloc is in; empty in a static program.
    const std::string& allocator() const noexcept { return allocator_; }

    const std::vector<std::string>& command() const noexcept { return command_; }

    /// By number minus 1; an unknown one is empty.
    const std::vector<raw_module>& modules() const noexcept { return modules_; }

    /// Number 0 is the root; a parent's number is smaller than its children's.
    const std::vector<raw::node>& nodes() const noexcept { return nodes_; }

    /// Drops rows from memory that are not needed soon.
    void let_go(raw_rows rows) const noexcept { file_.let_go(std::as_bytes(rows)); }

    /// The rows of each thread, in order and without duplicates.
    const std::vector<std::vector<raw_rows>>& threads() const noexcept { return threads_; }

    /// Names of the scopes, by number; number 0 stands for scopes without a number.
    const std::vector<std::string>& scope_names() const noexcept { return scope_names_; }

    /// In order of time; the first may be the beginning of the log.
    const std::vector<raw::pause_record>& pauses() const noexcept { return pauses_; }

    std::uint64_t row_count() const noexcept { return row_count_; }
    bool damaged() const noexcept { return damaged_; }

private:
    /// Consecutive rows or nodes in the file.
    struct segment {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
        std::size_t offset = 0;
    };

    void read_head(const std::filesystem::path& path);
    void read_chunks();
    std::size_t read_chunk(std::size_t offset);
    void take_entries(raw::chunk_kind kind, std::uint32_t thread, const segment& found,
                      std::span<const std::byte> body);
    void read_module(std::span<const std::byte> bytes);
    void read_command(std::span<const std::byte> bytes);
    void read_allocator(std::span<const std::byte> bytes);
    void read_scope_name(std::span<const std::byte> bytes);
    void read_pause(std::span<const std::byte> bytes);
    void order_nodes();
    void order_rows();
    void order_pauses();
    template <typename Take>
    void take_in_order(std::vector<segment>& segments, std::uint64_t next, Take&& take);

    mapped_file file_;
    std::string name_;
    std::filesystem::path folder_;
    std::uint32_t flags_ = 0;
    raw::process_identity process_{};
    bool waiting_written_ = false;
    raw::clock_pair start_{};
    raw::clock_pair last_clock_{};
    std::uint64_t start_of_day_ = 0;
    raw::stop_reason stopped_ = raw::stop_reason::none;
    raw::stack_method stacks_ = raw::stack_method::unwind_tables;
    std::uint32_t sampling_period_ = 1;
    std::uint64_t own_ticks_ = 0;
    std::uint64_t own_nanoseconds_ = 0;
    std::uint64_t lost_ = 0;
    std::string allocator_;
    std::vector<std::string> scope_names_;
    std::vector<raw::pause_record> pauses_;
    std::vector<std::string> command_;
    std::vector<raw_module> modules_;
    std::vector<raw::node> nodes_;
    std::vector<segment> node_segments_;
    std::vector<std::vector<segment>> row_segments_;  // of each thread
    std::vector<std::vector<raw_rows>> threads_;
    std::uint64_t row_count_ = 0;
    bool damaged_ = false;
};

}  // namespace acre::tool
