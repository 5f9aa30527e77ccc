// Pauses and resumes what `acre record` records of this program; without it nothing happens.
#pragma once

extern "C" {

/// The recorder has them when it is in the process. Of another toolchain's programs these declarations are all they need.
[[gnu::weak]] void acre_record_pause();
[[gnu::weak]] void acre_record_resume();

}  // extern "C"

namespace acre {

/// From here on nothing is recorded but the frees of objects that are in the trace. Safe in a signal handler.
inline void pause_recording() noexcept {
    if (acre_record_pause != nullptr) acre_record_pause();
}

/// From here on all threads are recorded again.
inline void resume_recording() noexcept {
    if (acre_record_resume != nullptr) acre_record_resume();
}

}  // namespace acre
