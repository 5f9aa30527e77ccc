// Pauses and resumes what `acre record` records of this program. Nothing has to be linked, and a program that is not
// recorded does nothing.
//
// Cost: where nothing records, a check of two instructions; recorded, a row in the log. Thread rules: may be called
// from any thread and in a signal handler, and holds for all threads.
#pragma once

#include <acre/observe/detail/recorder_interface.hpp>

namespace acre {

/// From here on nothing is recorded but the frees of objects that are in the trace.
inline void pause_recording() noexcept {
    if (detail::is_recorded()) acre_record_pause();
}

/// From here on allocations are recorded again.
inline void resume_recording() noexcept {
    if (detail::is_recorded()) acre_record_resume();
}

}  // namespace acre
