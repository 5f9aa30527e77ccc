// How the program itself pauses and resumes its recording: acre/observe/recording.hpp names these functions weakly.
#include "recorder.hpp"

extern "C" {

[[gnu::visibility("default")]] void acre_record_pause() {
    acre::recorder::pause_recording(true);
}

[[gnu::visibility("default")]] void acre_record_resume() {
    acre::recorder::pause_recording(false);
}

}  // extern "C"
