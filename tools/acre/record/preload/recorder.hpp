// The recorder's state in this process and in each of its threads, and what the hooks call.
#pragma once

#include <dlfcn.h>

#include "event_filter.hpp"
#include "given_environment.hpp"
#include "scope_names.hpp"
#include "stack_walker.hpp"
#include "system.hpp"

namespace acre::recorder {

/// What the linker gives each thread at a fixed distance from its thread pointer: nothing has to be set up to reach it.
struct thread_words {
    struct thread_state* state;
    std::uint64_t rows;           // in chunks that are done with
    std::uint64_t random;         // decides what is sampled; 0 before the first event
    std::uint64_t resource;       // that the resource rows are of; 0: none yet
    std::uint64_t timed_since;    // when the event that is timed began; 0: it is not timed
    std::int32_t events_untimed;  // so many more until one is timed
    std::uint32_t events_timed;   // counted as long as each is
    std::uint32_t number_plus_one;
    bool busy;  // inside a hook: what the recorder itself causes is not recorded
    bool ended;
    bool inside_resource;  // what is allocated is a resource's own affair
    std::uint8_t endings;  // rounds of thread-specific data being destroyed
};
extern constinit thread_local thread_words this_thread [[gnu::visibility("hidden")]];

/// The states of the process and of its threads lie in memory that a forked child finds zeroed, and zeroed means not
/// begun.
struct process_state {
    enum class mode : std::uint32_t { not_begun, beginning, recording, off };

    std::atomic<mode> is;
    bool stacks_at_free;
    raw::stack_method stacks;
    std::uint64_t empty_time;  // what timing nothing takes, in ticks
    event_filter filter;
    rule_table rules;
    call_tree tree;
    scope_names scopes;
    log_file log;
    spin_lock parking;
    struct thread_state* parked;  // of threads that have ended
};

struct thread_state {
    raw::row* cursor;
    raw::row* end;  // with the cursor here there is no room, or this is a forked child
    raw::chunk_head* chunk;
    process_state* process;
    thread_state* next;
    bool of_ended_thread;  // given back after each event
    bool leaves_slowly;    // there is more to do after this event than usual
    stack_walker walker;
};

/// Begins an event; null when it is not to be recorded.
[[gnu::noinline]] thread_state* enter_slowly();

inline thread_state* enter() {
    thread_words& thread = this_thread;
    if (thread.busy) [[unlikely]]
        return nullptr;
    thread_state* state = thread.state;
    if (state == nullptr || state->cursor == state->end) [[unlikely]]
        return enter_slowly();
    if (--thread.events_untimed < 0) [[unlikely]] {
        state->leaves_slowly = true;
        thread.timed_since = ticks();
    }
    thread.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return state;
}

[[gnu::noinline]] void leave_slowly(thread_state* state);

inline void leave(thread_state* state) {
    if (state->leaves_slowly) [[unlikely]]
        leave_slowly(state);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    this_thread.busy = false;
}

/// Adds a row; when there is no more room for rows, the event is lost and the recording has stopped.
[[gnu::noinline]] bool make_room(thread_state* state);

inline void add_row(thread_state* state, std::uint64_t pointer_and_kind, std::uint32_t node, std::uint32_t size) {
    if (state->cursor == state->end && !make_room(state)) [[unlikely]]
        return;
    *state->cursor = {ticks(), pointer_and_kind, node, size};
    ++state->cursor;
    // The row must be whole before it counts; a signal or the end of the process may come between any two stores.
    state->chunk->count.store(state->chunk->count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// While it is paused, only frees of recorded objects are recorded. May be called in signal handlers.
void pause_recording(bool paused);

/// What becomes of a program that is executed: `none` when this process has nothing to do with a recording.
enum class heir : std::uint8_t { none, unrecorded, recorded };
heir heir_in_this_process();
heir heir_in_a_child();

/// The entries of the environment that an heir needs and that this one lacks; how many.
std::size_t entries_lacking_in(char* const* environment, char** lacking);

/// Leaves word of a process that is not recorded.
void note_unrecorded(std::uint32_t process);

/// To be called when libraries may have been unloaded.
void libraries_unloaded();

/// Where a hook was called from: its frame begins with the caller's rbp and the return address.
using hook_frame = const std::uintptr_t*;

[[gnu::always_inline]] inline hook_frame this_frame() {
    return static_cast<hook_frame>(__builtin_frame_address(0));
}

[[gnu::always_inline]] inline std::uint32_t walk_from(thread_state* state, hook_frame frame) {
    process_state& process = *state->process;
    if (process.stacks == raw::stack_method::caller) {
        const tagged_address address = process.rules.find(frame[1], process.log).address;
        return process.tree.child(0, address, process.log);
    }
    return state->walker.walk({process.rules, process.tree, process.log}, reinterpret_cast<std::uintptr_t>(frame + 1),
                              *frame);
}

/// 0 stands for what every allocation has.
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

/// `what`: an address, or another number of 48 bits.
inline void add_released(thread_state* state, hook_frame frame, std::uint64_t what, raw::row_kind kind) {
    const std::uint32_t node = state->process->stacks_at_free ? walk_from(state, frame) : 0;
    add_row(state, raw::pack(what, kind, 0), node, 0);
}

inline void add_released(thread_state* state, hook_frame frame, const void* p, raw::row_kind kind) {
    add_released(state, frame, reinterpret_cast<std::uintptr_t>(p), kind);
}

/// Null when there is none, as in a static program.
template <typename Function>
Function* next_definition(const char* name) {
    thread_words& thread = this_thread;
    const bool was_busy = thread.busy;
    thread.busy = true;
    void* found = dlsym(RTLD_NEXT, name);
    thread.busy = was_busy;
    return reinterpret_cast<Function*>(found);
}

}  // namespace acre::recorder
