// Pauses and resumes what `acre record` records of this program; without it nothing happens.
#pragma once

#include <acre/observe/recorder_interface.hpp>

namespace acre {

/// From here on nothing is recorded but the frees of objects that are in the trace. Safe in a signal handler.
inline void pause_recording() noexcept {
    if (detail::is_recorded()) acre_record_pause();
}

/// From here on all threads are recorded again.
inline void resume_recording() noexcept {
    if (detail::is_recorded()) acre_record_resume();
}

}  // namespace acre
