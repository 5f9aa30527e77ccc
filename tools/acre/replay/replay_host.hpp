// A process that is forked while this program's heap is still clean and that forks a child for each measurement.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// Construct it first in main, so that what this program allocates later does not change the measurements. Each child
/// is pinned to one core; a child that crashes or is killed gives a result that says so.
class replay_host {
public:
    replay_host();
    ~replay_host();
    replay_host(const replay_host&) = delete;
    replay_host& operator=(const replay_host&) = delete;

    /// Sets the sequence that the following trials play. The host keeps its memory files, so it may be destroyed.
    void stage(const sequence_view& sequence);

    trial_result measure(const trial_request& request);

private:
    int memory_ = -1;  // file shared with the children: all of the sequence but steps and turns
    int host_ = -1;    // socket to the host
    pid_t process_ = -1;
};

}  // namespace acre::tool
