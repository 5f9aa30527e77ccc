// What a program tells `acre record` while it is recorded: where scopes begin and end, and when to pause.
//
// Use trace_scope for a part of the work that has no function of its own (a frame, a request, a phase), or that should
// be told apart in a recording. For each scope `acre info` says how often it ran, what it allocated each time, and what
// it left behind. Scopes nest; scopes of one name count together. Nothing has to be linked, and in a program that is
// not recorded all of this does nothing.
//
// Cost when nothing records: a check of two instructions at each call. Recorded: a row of 24 bytes in the log, without
// a stack. No memory. Thread rules: a scope begins and ends in one thread; any number of threads may be in scopes of
// one name. Pausing and resuming hold for all threads and may be called from any thread and from a signal handler.
//
//     for (const Request& each : requests) {
//         acre::trace_scope mark{"request"};
//         serve(each);
//     }
#pragma once

#include <acre/observe/detail/recorder_interface.hpp>

namespace acre {

/// Gives the rest of the enclosing C++ block a name in a recording. Neither copied nor moved.
class trace_scope {
public:
    /// Copies the name, cut off after 200 bytes.
    [[nodiscard]] explicit trace_scope(const char* name) noexcept {
        if (detail::is_recorded()) acre_record_scope_begin(name);
    }
    trace_scope(const trace_scope&) = delete;
    trace_scope& operator=(const trace_scope&) = delete;
    ~trace_scope() {
        if (detail::is_recorded()) acre_record_scope_end();
    }
};

/// Stops recording, except for frees of objects that are in the trace already.
inline void pause_recording() noexcept {
    if (detail::is_recorded()) acre_record_pause();
}

/// Records allocations again.
inline void resume_recording() noexcept {
    if (detail::is_recorded()) acre_record_resume();
}

}  // namespace acre
