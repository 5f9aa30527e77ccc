// A process that was forked while this program's heap was still clean, and that forks a child for each measurement.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// Make it first thing in main: what this program allocates afterwards then does not change what is measured. The
/// children run on one core, and one that crashes or is killed is an answer, not the end.
class replay_host {
public:
    replay_host();
    ~replay_host();
    replay_host(const replay_host&) = delete;
    replay_host& operator=(const replay_host&) = delete;

    /// The sequence that the following trials play; its memory files may go afterwards.
    void stage(const sequence_view& sequence);

    trial_result measure(const trial_request& request);

private:
    int memory_ = -1;  // of what is staged besides the steps, shared with the children
    int host_ = -1;    // the socket to it
    pid_t process_ = -1;
};

}  // namespace acre::tool
