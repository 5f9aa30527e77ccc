// The recorder's state in this process and in each of its threads, and what the hooks call.
#pragma once

#include <dlfcn.h>

#include "../chunk_rows.hpp"
#include "event_filter.hpp"
#include "given_environment.hpp"
#include "scope_names.hpp"
#include "stack_walker.hpp"
#include "system.hpp"
#include "thread_words.hpp"

namespace acre::recorder {

/// The states of the process and of its threads are in memory that is zeroed in a forked child; zeros mean not begun.
struct process_state {
    enum class mode : std::uint32_t { not_begun, beginning, recording, off };

    std::atomic<mode> is;
    bool stacks_at_free;
    raw::stack_method stacks;
    std::uint64_t empty_time;  // ticks between two reads of the counter
    event_filter filter;
    rule_table rules;
    call_tree tree;
    scope_names scopes;
    log_file log;
    spin_lock parking;
    struct thread_state* parked;               // states of threads that have ended, for reuse
    std::atomic<struct thread_state*> newest;  // of all states, parked or not
};

struct thread_state {
    raw::row* cursor;
    raw::row* end;  // cursor == end: the chunk is full, or this is a forked child
    raw::chunk_head* chunk;
    process_state* process;
    thread_state* next;
    thread_state* older;
    bool of_ended_thread;  // return it after each event
    bool leaves_slow;      // this event needs leave_slow()
    stack_walker walker;
};

/// Begins an event; null if it is not to be recorded.
[[gnu::noinline]] thread_state* enter_slow();

/// The same in a thread that is busy: counts the event if it is lost, and returns null.
[[gnu::noinline]] thread_state* enter_busy();

inline thread_state* enter() {
    thread_words& thread = this_thread;
    if (thread.busy != activity::none) [[unlikely]]
        return enter_busy();
    thread_state* state = thread.state;
    if (state == nullptr || state->cursor == state->end) [[unlikely]]
        return enter_slow();
    if (--thread.events_untimed < 0) [[unlikely]] {
        state->leaves_slow = true;
        thread.timed_since = ticks();
    }
    thread.busy = activity::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return state;
}

[[gnu::noinline]] void leave_slow(thread_state* state);

inline void leave(thread_state* state) {
    if (state->leaves_slow) [[unlikely]]
        leave_slow(state);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    this_thread.busy = activity::none;
}

/// Makes room for rows; false if the recording has stopped, so the event is lost.
[[gnu::noinline]] bool make_room(thread_state* state);

inline void add_row(thread_state* state, std::uint64_t pointer_and_kind, std::uint32_t node, std::uint32_t size) {
    if (state->cursor == state->end && !make_room(state)) [[unlikely]]
        return;
    raw::append_row(*state->chunk, *state->cursor, {ticks(), pointer_and_kind, node, size});
    ++state->cursor;
}

/// In a pause only frees of recorded objects are recorded. May be called in signal handlers.
void pause_recording(bool paused);

/// Whether a program that is executed will be recorded; `none` if this process is not part of a recording, `restricted`
/// if system calls of the recorder might kill it.
enum class exec_policy : std::uint8_t { none, unrecorded, recorded, restricted };
exec_policy exec_policy_of_this_process();
exec_policy exec_policy_of_a_child();

/// The environment entries of this recording.
const given_environment& kept_environment();

/// Tells acre about a process that may have no log. `error`: why a lost child could not make one.
void report_process(raw::report_kind kind, std::uint32_t process, const char* program, int error = 0);

/// Writes what waits in memory to the log if this process is recorded; to be called before it ends.
void write_waiting_rows();

/// Before the program may lose the right to open the log, or see other files by its path.
void before_losing_rights();

/// Before and after the program restricts its own system calls: from then on the recorder makes none, so the recording
/// stops. `restricted`: whether that succeeded.
void before_restriction();
void after_restriction(bool restricted);

/// To be called when libraries may have been unloaded.
void libraries_unloaded();

/// To be called after memory may have been unmapped or made unreadable. May be called in signal handlers.
void memory_gone(const void* at, std::size_t bytes);

[[gnu::noinline]] void block_may_go(const void* p);

/// To be called directly before a block of glibc's malloc is freed, after the stack was walked: glibc maps large blocks
/// and unmaps them then. They begin 16 bytes behind the begin of a page, or where it begins.
inline void before_free(const void* p) {
    if ((reinterpret_cast<std::uintptr_t>(p) & (raw::page_bytes - 1) & ~std::uintptr_t{16}) == 0) [[unlikely]]
        block_may_go(p);
}

/// The frame of a hook, which begins with the caller's rbp and the return address.
using hook_frame = const std::uintptr_t*;

[[gnu::always_inline]] inline hook_frame this_frame() {
    return static_cast<hook_frame>(__builtin_frame_address(0));
}

[[gnu::always_inline]] inline std::uint32_t walk_from(thread_state* state, hook_frame frame) {
    process_state& process = *state->process;
    if (process.stacks == raw::stack_method::caller) {
        const tagged_address address = process.rules.find(frame[1], process.log).address;
        return process.tree.innermost_of(process.tree.child(0, address, process.log), address, process.log);
    }
    return state->walker.walk({process.rules, process.tree, process.log}, reinterpret_cast<std::uintptr_t>(frame + 1),
                              *frame);
}

/// 0 stands for the default alignment.
inline unsigned alignment_log2(std::size_t alignment) {
    return alignment <= 16 ? 0 : 64 - static_cast<unsigned>(__builtin_clzl(alignment - 1));
}

inline void add_acquired(thread_state* state, hook_frame frame, const void* p, std::size_t size, raw::row_kind kind,
                         unsigned alignment) {
    const std::uint32_t node = walk_from(state, frame);
    const bool fits = size < raw::size_follows;
    const std::uint64_t inside = this_thread.inside_resource ? raw::inside_resource_bit : 0;
    add_row(state, raw::pack(reinterpret_cast<std::uintptr_t>(p), kind, alignment) | inside, node,
            fits ? static_cast<std::uint32_t>(size) : raw::size_follows);
    if (!fits) [[unlikely]]
        add_row(state, raw::pack(size, raw::row_kind::size_before, 0), 0, 0);
}

/// `what`: an address or another 48-bit number.
inline void add_released(thread_state* state, hook_frame frame, std::uint64_t what, raw::row_kind kind) {
    const std::uint32_t node = state->process->stacks_at_free ? walk_from(state, frame) : 0;
    add_row(state, raw::pack(what, kind, 0), node, 0);
}

inline void add_released(thread_state* state, hook_frame frame, const void* p, raw::row_kind kind) {
    add_released(state, frame, reinterpret_cast<std::uintptr_t>(p), kind);
}

/// The next definition of a hooked function, after this library; null if there is none, as in a static program.
template <typename Function>
Function* next_definition(const char* name) {
    const own_calls marked;
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace acre::recorder
