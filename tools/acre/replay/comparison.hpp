// Compares resources: interleaved rounds, each trial in a process of its own, medians with confidence intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "interval.hpp"
#include "replay_host.hpp"
#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

struct comparison_options {
    std::uint32_t rounds = 0;          // 0: as many as the limits below need
    std::uint32_t min_rounds = 0;      // stop here if `rounds` would take longer than max_seconds; 0: never stop early
    double wanted_uncertainty = 0.02;  // of the ratios, see interval::uncertainty()
    double max_seconds = 8;            // for the rounds after the first few
    double latest_seconds = 0;         // with few slow rounds: stop here; 0: after twice max_seconds
    const struct comparison* prepared = nullptr;  // of this sequence and contenders: their memory is known from there
    std::uint64_t shortest_trial = 10'000'000;    // nanoseconds; shorter sequences are played several times
    double min_saving = 0;  // nanoseconds; stop early if the first contender saves less than half of that
    std::uint32_t fragmentation_blocks = 0;  // to fragment the heap with before each timed trial
    bool check = false;                      // check first that blocks keep what is written into them
    std::uint64_t memory_limit = 0;          // bytes that a resource may take; 0: see docs/replay.md
    std::function<void(double)> progress;
};

/// A resource that takes part in a comparison.
struct contender {
    std::uint32_t resource = 0;  // number in resources()
    resource_parameters parameters{};
    bool without_frees = false;
    bool time_only = false;  // do not measure memory, except to find a parameter that was not given

    friend bool operator==(const contender&, const contender&) = default;
};

/// The figures of one contender.
struct standing {
    interval nanoseconds;            // one play of the sequence: CPU time of all threads, without waiting
    interval net_nanoseconds;        // the same minus the empty loop
    interval wall_nanoseconds;       // from beginning to end
    interval ratio;                  // net time divided by that of the system's malloc in the same round
    std::uint64_t peak_bytes = 0;    // held from upstream, or by malloc
    std::uint64_t system_bytes = 0;  // taken from the system
    resource_parameters parameters{};
    trial_result last;  // says why and where it failed, if it did

    bool failed() const noexcept { return last.failed(); }
};

struct comparison {
    interval loop_nanoseconds;  // cost of the replay itself
    standing system;
    std::vector<standing> standings;  // in the order of the contenders
    interval saved_nanoseconds(std::size_t contender) const;

    std::uint32_t rounds = 0;
    std::uint32_t repeats = 0;               // plays of the sequence in one trial
    std::vector<std::vector<double>> saved;  // nanoseconds that one play saved, by contender and round
};

comparison compare(replay_host& host, const sequence_view& sequence, const std::vector<contender>& contenders,
                   const comparison_options& options);

/// Half of the memory that is available.
std::uint64_t default_memory_limit();

}  // namespace acre::tool
