// The raw log of this process, open for writing; ../raw_log.hpp describes its contents.
#pragma once

#include "../raw_log.hpp"
#include "shared_memory.hpp"
#include "system.hpp"

namespace acre::recorder {

raw::clock_pair read_clocks();

/// File size limit of the process; writing beyond it would kill the program with SIGXFSZ.
std::uint64_t file_size_limit();

/// Of a log, and why recording stops there.
struct size_limit {
    std::uint64_t bytes;  // 0: none
    raw::stop_reason reason;
};

/// Zeroed memory is a log that is not open. Any thread may call any function; each chunk has one writer.
class log_file {
public:
    static constexpr std::size_t chunk_bytes = raw::block_bytes;

    /// What the head of the file says about the recording.
    struct description {
        raw::process_identity process;
        std::uint32_t flags;
        raw::stack_method stacks;
        std::uint32_t sampling_period;
    };

    /// Creates a new file in `directory`. `limit`: of this log, for a process without the shared memory. `stays_open`:
    /// as after pin().
    bool open(const char* directory, const shared_memory& memory, size_limit limit, const description& what,
              bool stays_open);

    /// errno of a failed open(); 0 if no system call failed.
    int error() const { return error_; }

    /// An empty chunk in memory with a place in the file; null if there is no room.
    raw::chunk_head* take_chunk();

    /// Keeps the file open from now on, as the program may lose the right to open it, or see other files by its path.
    void pin();

    /// Prepares a chunk for rows of a thread, or for nodes.
    static void begin_chunk(raw::chunk_head* chunk, raw::chunk_kind kind, std::uint32_t thread, std::uint64_t first);

    /// Copies a chunk to the end of the file and empties it. While the file cannot be opened, the chunk stays in memory
    /// with its place in the file, and another one replaces it.
    bool flush(raw::chunk_head*& chunk, std::size_t entry_bytes);

    /// Appends a chunk that consists of `count` pieces.
    struct piece {
        const void* at;
        std::size_t bytes;
    };
    bool append(raw::chunk_kind kind, const piece* pieces, std::size_t count);

    std::uint32_t number_thread() { return head_->threads.fetch_add(1, std::memory_order_relaxed); }
    bool stopped() const {
        return head_->stopped.load(std::memory_order_relaxed) != 0 || memory_->recording_has_ended();
    }
    void stop(raw::stop_reason reason);

    /// Undoes stop().
    void go_on(raw::stop_reason reason);

    /// Writes to the file what waits in memory, before the process ends or executes a program. `acre record` does the
    /// same at the end, if it still runs and can reach this memory.
    void write_waiting();

    /// Adds to the time that the recorder has taken.
    void add_own_ticks(std::uint64_t ticks) { head_->own_ticks.fetch_add(ticks, std::memory_order_relaxed); }

    /// Counts an event that is missing because a signal handler interrupted the recorder.
    void add_lost() { head_->lost.fetch_add(1, std::memory_order_relaxed); }

private:
    class measured_work;
    class opened_file;

    static constexpr std::uint64_t no_place = ~std::uint64_t{0};
    static constexpr std::size_t max_regions = 4096;    // 61,440 threads at a time
    static constexpr std::uint32_t max_waiting = 4096;  // chunks that wait until the file can be opened: 256 MiB

    bool create(const char* directory, std::uint32_t process);
    bool begin(const description& what);
    bool write_first_page(raw::file_head& first, const description& what);
    bool take_region();
    std::uint64_t reserve(std::size_t bytes, std::size_t alignment);
    bool write_at(long file, std::uint64_t offset, const void* data, std::size_t bytes);
    raw::chunk_head* take_block(std::uint64_t place);
    raw::chunk_head* take_waiting_block(long error, std::uint64_t place);
    bool replace_waiting(raw::chunk_head*& chunk, long error);
    bool append_waiting(long error, std::uint64_t place, const raw::chunk_head& head, const piece* pieces,
                        std::size_t count);
    long open_again();
    void unpin();
    bool is_ours(long file) const;

    const shared_memory* memory_;
    raw::file_head* head_;      // in the first region
    raw::region_head* region_;  // the newest
    std::size_t blocks_used_;   // in it
    raw::region_head* regions_[max_regions];
    std::size_t region_count_;
    spin_lock taking_block_;
    size_limit limit_;
    std::uint64_t device_;
    std::uint64_t inode_;
    std::atomic<std::uint32_t> waiting_;  // chunks
    std::atomic<int> pinned_;             // the descriptor that is kept open; -1: none
    int error_;
    const char* name_;  // in path_, without the directory
    char path_[4096];
};

}  // namespace acre::recorder
