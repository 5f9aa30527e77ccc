// The data model of a trace, as the recorder writes it, the trace file holds it and every command reads it.
//
// A trace is one run of one program: a header, the loaded modules, the frames, the call tree of the stacks, the events
// in order, and marks between them. An object is one successful allocation. Objects are numbered from 0 in the order of
// allocation; a free refers to that number, so no addresses are kept. A successful realloc is two events, a free and an
// allocation of another object, both with `operation::realloc`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/text.hpp"

namespace acre::tool {

/// The allocation function that was called.
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
    allocate,       // of a resource that the program traces, not of malloc
    deallocate,     // of such a resource
};

constexpr bool is_new(operation op) noexcept {
    return op == operation::new_single || op == operation::new_array;
}

/// The name as in source code: "malloc", "new[]", "deallocate".
inline const char* name_of(operation op) {
    constexpr std::array names{"malloc", "calloc", "realloc",  "aligned_alloc", "new",       "new[]",
                               "free",   "delete", "delete[]", "allocate",      "deallocate"};
    static_assert(names.size() == static_cast<std::size_t>(operation::deallocate) + 1);
    return names[static_cast<std::size_t>(op)];
}

/// The call node for "stack not known".
inline constexpr std::uint32_t no_stack = 0;

/// One allocation or one free.
struct event {
    std::uint64_t time = 0;           // nanoseconds since the recording began
    std::uint64_t object = 0;         // number of the object allocated or freed
    std::uint64_t size = 0;           // requested bytes; of a free: those of its object
    std::uint32_t thread = 0;         // threads are numbered from 0 in order of their first event
    std::uint32_t stack = no_stack;   // index into trace_tables::call_tree: the innermost frame
    std::uint8_t alignment_log2 = 0;  // 0: the default (16 bytes); else log2 of the requested alignment
    operation op = operation::malloc;
    bool allocates = true;    // false: a free
    std::uint32_t place = 0;  // of the object while it lives: a small number, used again; only from a trace_reader
};

/// What begins or ends at a mark.
enum class mark_kind : std::uint8_t {
    scope_begin,        // the thread enters a named scope
    scope_end,          // it leaves that scope, which is its innermost
    recording_paused,   // what follows is not recorded
    recording_resumed,  // what follows is recorded again
};

/// A point between two events that the program or its user marked.
struct mark {
    std::uint64_t time = 0;    // nanoseconds since the recording began
    std::uint64_t event = 0;   // number of events before it
    std::uint32_t thread = 0;  // as in events; threads without events have numbers, too
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

/// A function at a frame; a frame with inlined calls has several, innermost first.
struct source_location {
    std::string function;    // demangled; empty when unknown
    std::string file;        // empty when unknown
    std::uint32_t line = 0;  // 0 when unknown

    friend bool operator==(const source_location&, const source_location&) = default;
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
    frame_pointers,  // functions without a frame pointer and their callers may be missing
    caller,          // only the caller of the allocating function
};

/// Facts about the recorded run.
struct trace_header {
    std::vector<std::string> command;  // the program and its arguments
    std::string date;                  // UTC, ISO 8601
    std::string machine;               // processor and system, in words
    std::string allocator;             // whose malloc the program used, in words; empty: not known
    std::int32_t exit_status = 0;      // 128 + n if signal n ended the program; or unknown_status
    std::uint64_t duration = 0;        // nanoseconds from the first to the last moment recorded
    std::uint64_t user_time = 0;       // CPU time of the program in microseconds, including recording
    std::uint64_t system_time = 0;
    std::uint64_t recording_time = 0;   // estimate of the recorder's part of it, microseconds
    std::uint64_t unmatched_frees = 0;  // frees of memory whose allocation was not recorded; not events
    bool stacks_at_free = true;
    stack_method stacks = stack_method::unwind_tables;
    std::uint64_t sampling_period = 1;  // n: one allocation in n was recorded, at random; 1: all
    std::vector<std::string> notes;     // sentences for the reader

    /// The beginning of the note about a recording that stopped before the program ended.
    static constexpr std::string_view stopped_note = "The recording stopped when ";

    static constexpr std::int32_t unknown_status = -1;  // the end of the program was not observed

    static constexpr std::string_view glibc = "glibc";  // the allocator of most programs

    bool is_sampled() const noexcept { return sampling_period > 1; }

    /// Whether exit status and CPU time are known.
    bool end_is_known() const noexcept { return exit_status != unknown_status; }
    std::uint64_t cpu_microseconds() const noexcept { return user_time + system_time; }

    /// CPU time that the recorder took. It is an estimate, so at least a tenth is left to the program.
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
