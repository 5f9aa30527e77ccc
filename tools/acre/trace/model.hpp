// The words of a trace: what the recorder hands over, what the trace file holds and what every command reads.
//
// A trace is one run of one program: a header, the modules that were loaded, the frames and the call tree that the
// program's stacks form, the events in the order in which they happened, and marks between them. An object is one
// successful allocation; objects are numbered from 0 in the order of their allocation, and a free refers to its object
// by that number, so no address is kept. A realloc that succeeds is two events, a release and an acquisition of another
// object, both marked `operation::realloc`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/text.hpp"

namespace acre::tool {

/// Which function of the program's C or C++ library was called.
enum class operation : std::uint8_t {
    malloc,
    calloc,
    realloc,        // either half of a realloc or reallocarray
    aligned_alloc,  // aligned_alloc, memalign, posix_memalign, valloc, pvalloc
    new_single,     // operator new, every form
    new_array,      // operator new[], every form
    free,
    delete_single,  // operator delete, every form
    delete_array,   // operator delete[], every form
    allocate,       // of a resource that the program has traced, not of malloc
    deallocate,     // of such a resource
};

constexpr bool is_new(operation op) noexcept {
    return op == operation::new_single || op == operation::new_array;
}

/// As a program writes it: "malloc", "new[]", "deallocate".
inline const char* name_of(operation op) {
    constexpr std::array names{"malloc", "calloc", "realloc",  "aligned_alloc", "new",       "new[]",
                               "free",   "delete", "delete[]", "allocate",      "deallocate"};
    static_assert(names.size() == static_cast<std::size_t>(operation::deallocate) + 1);
    return names[static_cast<std::size_t>(op)];
}

/// Number of a node of the call tree that stands for "no stack known".
inline constexpr std::uint32_t no_stack = 0;

/// One allocation or one free.
struct event {
    std::uint64_t time = 0;           // nanoseconds since the recording began
    std::uint64_t object = 0;         // number of the object allocated or freed
    std::uint64_t size = 0;           // bytes asked for; on a free, those of its object
    std::uint32_t thread = 0;         // threads are numbered from 0 in order of their first event
    std::uint32_t stack = no_stack;   // index into trace_tables::call_tree: the innermost frame
    std::uint8_t alignment_log2 = 0;  // 0: the function's default (16 bytes); else log2 of the alignment asked for
    operation op = operation::malloc;
    bool allocates = true;  // false: a free
};

/// What a mark says of the time after it.
enum class mark_kind : std::uint8_t {
    scope_begin,        // the thread enters a scope that the program has named
    scope_end,          // it leaves that scope, the innermost that it is in
    recording_paused,   // what follows is not recorded
    recording_resumed,  // what follows is recorded again
};

/// Something between two events that the program or its user wanted to be seen.
struct mark {
    std::uint64_t time = 0;    // nanoseconds since the recording began
    std::uint64_t event = 0;   // how many events came before it
    std::uint32_t thread = 0;  // numbered as in events; a thread without events has a number of its own
    std::uint32_t name = 0;    // of a scope: index into trace_tables::scope_names; else 0
    mark_kind kind = mark_kind::scope_begin;

    bool is_scope() const noexcept { return kind == mark_kind::scope_begin || kind == mark_kind::scope_end; }
    friend bool operator==(const mark&, const mark&) = default;
};

/// A file mapped into the program: the program itself or a shared library.
struct module_info {
    std::string path;
    std::string build_id;         // lower-case hexadecimal; empty when the file has none
    std::uint64_t load_bias = 0;  // address in the process minus address in the file
};

/// One function in the source at a frame; a frame with inlined calls has several, innermost first.
struct source_location {
    std::string function;    // demangled; empty when unknown
    std::string file;        // empty when unknown
    std::uint32_t line = 0;  // 0 when unknown
};

/// A return address, resolved after the run.
struct frame_info {
    std::uint32_t module = 0;         // index into trace_tables::modules, or no_module
    std::uint64_t module_offset = 0;  // address of the call in the module's file (return address - 1 - load_bias)
    std::vector<source_location> locations;  // innermost inlined call first; empty: nothing known

    static constexpr std::uint32_t no_module = 0xffff'ffff;
};

/// A node of the call tree: a frame and the node of its caller. Node 0 is the root ("no stack"), and a parent's number
/// is always smaller than its children's.
struct call_node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;  // index into trace_tables::frames; meaningless for node 0
};

/// Everything in a trace besides its events and marks.
struct trace_tables {
    std::vector<module_info> modules;
    std::vector<frame_info> frames;
    std::vector<call_node> call_tree;      // never empty: node 0 is the root
    std::vector<std::string> scope_names;  // of marks
};

/// How the recorder found the stacks.
enum class stack_method : std::uint8_t {
    unwind_tables,   // whole stacks
    frame_pointers,  // functions that keep no frame pointer, and what calls them, may be missing
    caller,          // the caller of the allocating function alone
};

/// How the recorded run came about and ended.
struct trace_header {
    std::vector<std::string> command;  // the program and its arguments
    std::string date;                  // UTC, ISO 8601
    std::string machine;               // processor and system, in words
    std::int32_t exit_status = 0;      // as a shell says it: 128 + n when a signal n ended it; or unknown_status
    std::uint64_t duration = 0;        // nanoseconds from the first to the last moment recorded
    std::uint64_t user_time = 0;       // microseconds of CPU time of the program, recording included
    std::uint64_t system_time = 0;
    std::uint64_t recording_time = 0;   // microseconds of those that the recorder took, an estimate
    std::uint64_t unmatched_frees = 0;  // frees of memory whose allocation was not seen; they are not events
    bool stacks_at_free = true;
    stack_method stacks = stack_method::unwind_tables;
    std::uint64_t sampling_period = 1;  // 1: each allocation was recorded; n: one in n on average, at random
    std::vector<std::string> notes;     // what a reader should know, a sentence each

    /// How the note begins of a recording that stopped before the program ended.
    static constexpr std::string_view stopped_note = "The recording stopped when ";

    static constexpr std::int32_t unknown_status = -1;  // the program's end was not seen

    bool is_sampled() const noexcept { return sampling_period > 1; }

    /// Whether exit status and CPU time are known.
    bool end_is_known() const noexcept { return exit_status != unknown_status; }
    std::uint64_t cpu_microseconds() const noexcept { return user_time + system_time; }

    /// What the recorder took of it. That is an estimate, so a tenth is left to the program in any case.
    std::uint64_t recording_microseconds() const noexcept {
        return std::min(recording_time, cpu_microseconds() - cpu_microseconds() / 10);
    }
    std::uint64_t program_microseconds() const noexcept { return cpu_microseconds() - recording_microseconds(); }
};

/// The program and its arguments as one printable line.
inline std::string command_text(const trace_header& header) {
    std::string line;
    for (const std::string& word : header.command) line += (line.empty() ? "" : " ") + word;
    return printable(line);
}

}  // namespace acre::tool
