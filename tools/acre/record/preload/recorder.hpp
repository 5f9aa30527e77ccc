// The recorder's state in this process and in each of its threads, and what the hooks call.
#pragma once

#include "event_filter.hpp"
#include "given_environment.hpp"
#include "scope_names.hpp"
#include "stack_walker.hpp"
#include "thread_words.hpp"

namespace acre::recorder {

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

}  // namespace acre::recorder
