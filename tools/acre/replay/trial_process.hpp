// The process that plays one trial and says how it went: a fork of this program, or this program started anew with
// another malloc preloaded.
#pragma once

#include "staged_sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// To be called in a fresh child; `socket` takes the answer.
[[noreturn]] void run_trial(const staged_files& files, int socket, const trial_request& request);

}  // namespace acre::tool
