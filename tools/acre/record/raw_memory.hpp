// The memory that `acre record` shares with the processes that it records: a memfd of fixed size. Rows wait there until
// a chunk is full and goes to the log, so nothing is lost however a process ends. Pages are populated before they are
// used and the size is sealed, so no store can fault: not on a full disk, nor when somebody truncates the log.
//
// The first region is memory_head, which tells acre what became of processes without a log. Each further region belongs
// to one process: a head page and blocks, one for each chunk. A process that cannot reach the memfd (another user, a
// sandbox) has its regions in private memory and writes them to its log before it ends.
#pragma once

#include <algorithm>

#include "raw_log.hpp"

namespace acre::raw {

inline constexpr std::uint32_t memory_version = 1;
inline constexpr std::size_t block_bytes = 64 * 1024;  // stays in a processor's cache
inline constexpr std::size_t blocks_in_region = 16;    // the first one holds the region's head
inline constexpr std::size_t region_bytes = block_bytes * blocks_in_region;

inline constexpr std::size_t rows_in_chunk = (block_bytes - sizeof(chunk_head)) / sizeof(row);

/// At most 1 GiB of rows waits in memory; processes that come later use private memory.
inline constexpr std::uint32_t max_blocks = 1 << 14;
inline constexpr std::uint32_t max_regions = 1 << 18;

/// What a process reports about itself or a child.
enum class report_kind : std::uint32_t {
    none,
    unwanted_child,  // a child that need not be recorded
    lost_child,      // a forked child that could not make a log
    executes,        // executes a program that should be recorded; it has a log unless something prevented that
    failed_to_execute,
    // Executes a program that cannot be recorded:
    executes_static,
    executes_foreign,     // made for another processor or C library
    executes_privileged,  // setuid, setgid or with file capabilities
    executes_sanitized,
    executes_restricted,  // under a restriction of system calls
    own_malloc,           // the program has a malloc of its own
};

/// A report. `kind` is stored last.
struct process_report {
    std::atomic<report_kind> kind;
    std::uint32_t process;
    std::int32_t error;  // errno of a lost child; 0: not known
    char name[52];       // of the program, its end if it is long; ends with 0
};
static_assert(sizeof(process_report) == 64);

/// The contents of the first region.
struct memory_head {
    static constexpr std::uint32_t max_reports = 8192;

    std::uint32_t version;
    std::uint32_t regions;             // in the memfd, including this one
    std::atomic<std::uint32_t> ended;  // 1: acre has ended the recording
    std::atomic<std::uint32_t> next_region;
    std::atomic<std::uint32_t> blocks;   // in use
    std::atomic<std::uint32_t> reports;  // made; those beyond max_reports are only counted
    std::uint64_t log_limit;             // bytes of all logs together; 0: none
    std::atomic<std::uint64_t> log_bytes;
    process_report report[max_reports];
};
static_assert(sizeof(memory_head) <= region_bytes);

/// The head of a region. `log` is in use in the first region of a process.
struct region_head {
    std::uint32_t has_log;
    std::uint32_t is_private;
    std::uint32_t is_populated;                           // from the start, not block by block
    char file[44];                                        // the log's name in the raw directory
    std::atomic<std::uint64_t> places[blocks_in_region];  // offset of each block's chunk in the log; 0: not in use
    file_head log;
};
static_assert(sizeof(region_head) <= page_bytes);

/// The chunk in a block of a region.
inline chunk_head* chunk_in(region_head& region, std::size_t block) {
    return reinterpret_cast<chunk_head*>(reinterpret_cast<std::byte*>(&region) + block * block_bytes);
}

constexpr std::size_t entry_bytes(chunk_kind kind) {
    if (kind == chunk_kind::rows) return sizeof(row);
    return kind == chunk_kind::nodes ? sizeof(node) : 1;
}

/// Writes what waits in a region to its log, by `write(offset, data, bytes)`, which returns whether it succeeded. May
/// be repeated after more rows came.
template <typename Write>
bool write_waiting(region_head& region, Write write) {
    bool written = true;
    for (std::size_t block = 1; block < blocks_in_region; ++block) {
        const std::uint64_t place = region.places[block].load(std::memory_order_acquire);
        if (place == 0) continue;
        const chunk_head* chunk = chunk_in(region, block);
        const std::size_t entry = entry_bytes(chunk->kind);
        const std::size_t most = (block_bytes - sizeof(chunk_head)) / entry;
        const std::size_t count = std::min<std::size_t>(chunk->count.load(std::memory_order_acquire), most);
        // All of its place is to be in the file, which is not so yet if the file could not be opened.
        const std::size_t capacity = std::min<std::size_t>(chunk->capacity, block_bytes - sizeof(chunk_head));
        const std::uint64_t last = place + sizeof(chunk_head) + capacity - 1;
        if (count * entry < capacity) written = write(last, "", 1) && written;
        written = write(place, chunk, sizeof(chunk_head) + count * entry) && written;
    }
    if (region.has_log != 0) written = write(0, &region.log, sizeof region.log) && written;
    return written;
}

}  // namespace acre::raw
