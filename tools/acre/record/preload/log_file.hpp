// The raw log of this process, open for writing; ../raw_log.hpp describes its contents.
#pragma once

#include "../raw_log.hpp"
#include "system.hpp"

namespace acre::recorder {

raw::clock_pair read_clocks();

/// File size limit of the process; writing beyond it would kill the program with SIGXFSZ.
std::uint64_t file_size_limit();

/// Zeroed memory is a log that is not open. Any thread may call any function; each mapped chunk has one writer.
class log_file {
public:
    static constexpr std::size_t chunk_bytes = 64 * 1024;  // mapped for each thread; stays in its processor's cache

    /// What the head of the file says about the recording.
    struct description {
        std::uint32_t flags;
        raw::stack_method stacks;
        std::uint32_t sampling_period;
    };

    /// Creates a new file in `directory`.
    bool open(const char* directory, std::uint64_t limit, const description& what);

    /// An empty mapped chunk; null if there is no room.
    raw::chunk_head* map_chunk();

    /// Prepares a mapped chunk for rows of a thread, or for nodes.
    static void begin_chunk(raw::chunk_head* chunk, raw::chunk_kind kind, std::uint32_t thread, std::uint64_t first);

    /// Copies a mapped chunk to the end of the file and empties it.
    bool flush(raw::chunk_head* chunk, std::size_t entry_bytes);

    /// Appends a chunk that consists of `count` pieces.
    struct piece {
        const void* at;
        std::size_t bytes;
    };
    bool append(raw::chunk_kind kind, const piece* pieces, std::size_t count);

    std::uint32_t number_thread() { return head_->threads.fetch_add(1, std::memory_order_relaxed); }
    bool stopped() const { return head_->stopped.load(std::memory_order_relaxed) != 0; }
    void stop(raw::stop_reason reason);

    /// Adds to the time that the recorder has taken.
    void add_own_ticks(std::uint64_t ticks) { head_->own_ticks.fetch_add(ticks, std::memory_order_relaxed); }

    /// Counts an event that is missing because a signal handler interrupted the recorder.
    void add_lost() { head_->lost.fetch_add(1, std::memory_order_relaxed); }

private:
    class measured_work;

    static constexpr std::uint64_t no_place = ~std::uint64_t{0};

    std::uint64_t reserve(std::size_t bytes, std::size_t alignment);
    bool write_at(std::uint64_t offset, const void* data, std::size_t bytes);
    bool ready();
    bool reopen();
    bool is_ours(long file) const;

    raw::file_head* head_;
    std::uint64_t limit_;            // bytes; 0: none
    std::uint64_t file_size_limit_;  // of the process
    std::uint64_t device_;
    std::uint64_t inode_;
    spin_lock reopening_;
    int file_;
    char path_[4096];
};

}  // namespace acre::recorder
