// A mark for `acre record`: from here to the end of the block, this thread is in the scope of that name.
//
// A part of the program's work that has no function of its own (a frame, a request, a phase), or one that should be
// told apart in a recording: `acre info` says for each scope how often it ran, what it allocated each time, and what it
// left behind. Scopes nest; those of one name count together. Nothing has to be linked, and a program that is not
// recorded does nothing.
//
// Cost: where nothing records, a check at either end, four instructions in all; recorded, a row of 24 bytes in the log
// at either end, without a stack. No memory. Thread rules: begins and ends in one thread; any number of threads may be
// in scopes of one name. Not copied or moved.
//
//     for (const Request& each : requests) {
//         acre::trace_scope mark{"request"};
//         serve(each);
//     }
#pragma once

#include <acre/observe/detail/recorder_interface.hpp>

namespace acre {

/// Marks the rest of the block in a recording.
class trace_scope {
public:
    /// The name is copied; of a long one the first 200 bytes count.
    [[nodiscard]] explicit trace_scope(const char* name) noexcept {
        if (detail::is_recorded()) acre_record_scope_begin(name);
    }
    trace_scope(const trace_scope&) = delete;
    trace_scope& operator=(const trace_scope&) = delete;
    ~trace_scope() {
        if (detail::is_recorded()) acre_record_scope_end();
    }
};

}  // namespace acre
