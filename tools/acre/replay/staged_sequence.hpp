// A sequence in memory that the processes that play it share.
#pragma once

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// The descriptors of a sequence that was staged.
struct staged_files {
    int stage = -1;  // the request and what is small
    int steps = -1;
    int turns = -1;  // none when one thread plays all
};

/// Writes all but the steps and their turns, which lie in memory files of their own already, to the file `stage`.
/// Throws tool_error.
void write_stage(int stage, const sequence_view& sequence);

/// Maps a sequence to be played, with what is played of it read in before the clock starts; throws tool_error.
sequence_view map_sequence(const staged_files& files);

/// What a process that is started anew is asked for.
void write_request(int stage, const trial_request& request);
trial_request read_request(int stage);

}  // namespace acre::tool
