// A sequence in files that the processes which play it share.
#pragma once

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// The descriptors of a staged sequence.
struct staged_files {
    int stage = -1;  // the request and everything but steps and turns
    int steps = -1;
    int turns = -1;  // -1 if one thread plays all
};

/// Writes everything but steps and turns, which have files already, to the file `stage`. Throws tool_error.
void write_stage(int stage, const sequence_view& sequence);

/// Maps a sequence and reads it in before the clock starts. Throws tool_error.
sequence_view map_sequence(const staged_files& files);

/// The request to a process that is started anew.
void write_request(int stage, const trial_request& request);
trial_request read_request(int stage);

}  // namespace acre::tool
