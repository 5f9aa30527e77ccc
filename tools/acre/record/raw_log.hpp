// The raw log: the file that the recorder in the program writes and `acre record` reads.
//
// A file is a head and chunks, each at a multiple of chunk_alignment, those of rows and nodes at a multiple of
// page_bytes, with zeros between them. Threads write into chunks in memory (raw_memory.hpp), each of which has a place
// in the file, where it is written at the end. A chunk that is full earlier is copied to the end of the file and filled
// again, so a row can be in the file twice; thread and sequence number identify it.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "../programs/recorder_note.hpp"

namespace acre::raw {

inline constexpr char file_magic[8] = {'a', 'c', 'r', 'e', '-', 'r', 'a', 'w'};
inline constexpr std::uint32_t chunk_magic = 0x6b6e6863;
inline constexpr std::size_t chunk_alignment = 64;
inline constexpr std::size_t page_bytes = 4096;

/// Time stamp counter and system clock at one moment.
struct clock_pair {
    std::uint64_t ticks;
    std::uint64_t nanoseconds;  // CLOCK_MONOTONIC
};

enum class stop_reason : std::uint32_t {
    none,
    limit_reached,
    disk_full,
    log_lost,
    no_memory,
    file_size_limit,
    restricted,  // the program restricted its system calls
    no_descriptor,
    disk_share_used,  // the limit is a share of what was free on the disk
    end
};

/// Tells apart processes of the same number; `start` and `pid_namespace` are 0 if /proc is missing.
struct process_identity {
    std::uint32_t number;
    std::uint64_t start;  // field 22 of /proc/PID/stat
    std::uint64_t pid_namespace;

    friend auto operator<=>(const process_identity&, const process_identity&) = default;
};

/// How stacks are found; same numbers as acre::tool::stack_method.
enum class stack_method : std::uint32_t {
    unwind_tables,
    frame_pointers,  // along the chain that begins in rbp
    caller,          // the return address of the hook alone
};

inline constexpr std::uint32_t flag_stacks_at_free = 1;
inline constexpr std::uint32_t flag_forked = 2;     // this process was forked, not executed
inline constexpr std::uint32_t flag_started = 4;    // it is the one that `acre record` started
inline constexpr std::uint32_t flag_paused = 8;     // the log begins with a pause
inline constexpr std::uint32_t flag_children = 16;  // other processes than the started one are recorded too

/// The first page of the file. Its atomics are shared by the threads of one process only.
struct file_head {
    char magic[8];
    std::uint32_t version;
    std::uint32_t flags;
    process_identity process;
    std::uint32_t parent;
    clock_pair start;
    std::uint64_t start_of_day;              // CLOCK_REALTIME, nanoseconds
    std::atomic<std::uint64_t> end_of_file;  // where the next chunk goes
    std::atomic<std::uint32_t> threads;      // numbered so far
    std::atomic<std::uint32_t> stopped;      // a stop_reason
    stack_method stacks;
    std::uint32_t sampling_period;  // n: one allocation in n is recorded
    // Time that the recorder has taken so far: in the hooks (ticks, estimated from samples) and writing this file.
    std::atomic<std::uint64_t> own_ticks;
    std::atomic<std::uint64_t> own_nanoseconds;  // of CPU time
    std::atomic<std::uint64_t> lost;             // events of signal handlers that interrupted the recorder
    std::atomic<std::uint32_t> waiting_written;  // 1: what waited in memory was written at the end
};

enum class chunk_kind : std::uint32_t { none, rows, nodes, module, command, pause, scope_name, allocator };

struct chunk_head {
    std::uint32_t magic;
    chunk_kind kind;
    std::uint32_t thread;
    std::uint32_t capacity;            // bytes after this head
    std::uint64_t first;               // sequence number of the first row or node
    std::atomic<std::uint64_t> count;  // rows, nodes or bytes
    clock_pair clock;                  // when the chunk was begun
    std::uint64_t unused[2];
};
static_assert(sizeof(chunk_head) == chunk_alignment);

/// The numbers of the allocating and freeing rows are those of acre::tool::operation.
enum class row_kind : std::uint8_t {
    malloc,
    calloc,
    realloc,
    aligned_alloc,
    new_single,
    new_array,
    free,
    delete_single,
    delete_array,
    realloc_release,  // the next row of the thread is the reallocated block or realloc_refused
    realloc_refused,  // the realloc failed: the release before this row did not happen
    size_before,      // the true size of the previous row, which did not fit
    resource,         // the number of the resource of this thread's following resource rows
    resource_allocate,
    resource_deallocate,
    resource_reset,   // all its objects are gone
    resource_rewind,  // its objects that were allocated after a moment are gone; has that moment's low 48 bits
    scope_begin,      // the size is the number of the scope's name
    scope_end,
    end
};

/// Size in a row whose true size follows in a size_before row.
inline constexpr std::uint32_t size_follows = 0xffff'ffff;
inline constexpr unsigned pointer_bits = 48;

struct row {
    std::uint64_t ticks;
    std::uint64_t
        pointer_and_kind;  // 48 bits address or number, 8 bits kind, 8 bits log2 of the alignment (0: default)
    std::uint32_t node;    // innermost frame of the stack, 0: none
    std::uint32_t size;
};
static_assert(sizeof(row) == 24);

/// In a row of an allocation: a resource made it for itself, so it becomes no event.
inline constexpr std::uint64_t inside_resource_bit = std::uint64_t{1} << (pointer_bits + 7);

constexpr std::uint64_t pack(std::uint64_t pointer, row_kind kind, unsigned alignment_log2) {
    return (pointer & ((std::uint64_t{1} << pointer_bits) - 1)) | (static_cast<std::uint64_t>(kind) << pointer_bits) |
           (static_cast<std::uint64_t>(alignment_log2) << (pointer_bits + 8));
}

/// A node of the call tree; numbered from 1 in the order of the file, 0 is the root.
struct node {
    std::uint64_t address;  // return address: just behind the call
    std::uint32_t parent;   // a smaller number
    std::uint32_t module;   // 0: none; and innermost_bit
};

/// Of a node that is the innermost of a stack, and no other's parent, although the call there goes to a function of the
/// program: that function was left before it allocated or freed, by a jump as its last step.
inline constexpr std::uint32_t innermost_bit = std::uint32_t{1} << 31;

constexpr bool is_innermost(const node& of) {
    return (of.module & innermost_bit) != 0;
}
constexpr std::uint32_t module_of(const node& of) {
    return of.module & ~innermost_bit;
}
static_assert(sizeof(node) == 16);

/// Tells apart files of the same path; all zeros if it is not known.
struct file_identity {
    std::uint64_t device;
    std::uint64_t inode;
    std::uint64_t bytes;
    std::int64_t modified;  // nanoseconds

    friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// A module chunk contains this, the bytes of the build-id and the path.
struct module_record {
    std::uint32_t number;  // from 1
    std::uint32_t build_id_bytes;
    std::uint64_t begin;  // addresses in the process
    std::uint64_t end;
    std::uint64_t load_bias;
    std::uint32_t path_bytes;
    std::uint32_t unused;
    file_identity file;  // only of a file without a build-id
};

/// An allocator chunk contains the path of the file that malloc is in; none in a static program.

/// A scope name chunk contains this and the text.
struct scope_name_record {
    std::uint32_t number;  // from 1
    std::uint32_t text_bytes;
};
inline constexpr std::uint32_t max_scope_names = 1 << 16;

/// A pause chunk: from here on allocations are not recorded (paused), or recorded again.
struct pause_record {
    std::uint64_t ticks;
    std::uint32_t thread_plus_one;  // 0: a thread that had no number yet
    std::uint32_t paused;
};

/// Environment variables by which `acre record` configures the recorder.
inline constexpr char directory_variable[] = "ACRE_RECORD_DIRECTORY";  // absolute; the raw logs go there
inline constexpr char process_variable[] = "ACRE_RECORD_PROCESS";      // the process started: number:start:namespace
inline constexpr char options_variable[] = "ACRE_RECORD_OPTIONS";      // letters, some with a number
inline constexpr char memory_variable[] = "ACRE_RECORD_MEMORY";        // absolute path of the shared memory
inline constexpr char library_variable[] = "ACRE_RECORD_LIBRARY";      // the recorder in LD_PRELOAD, if it is there
inline constexpr char option_children = 'c';
inline constexpr char option_no_free_stacks = 'a';
inline constexpr char option_paused = 'p';
inline constexpr char option_limit = 'l';          // followed by decimal bytes
inline constexpr char option_disk_share = 'd';     // the limit is a share of what was free on the disk
inline constexpr char option_stacks = 's';         // followed by the number of a stack_method
inline constexpr char option_sampling = 'n';       // followed by the period
inline constexpr char option_toggle_signal = 't';  // followed by the number of the signal

/// File in that directory to which processes without the shared memory append their reports. Logs are named
/// PROCESS.NUMBER.raw.
inline constexpr char reports_name[] = "reports";

}  // namespace acre::raw
