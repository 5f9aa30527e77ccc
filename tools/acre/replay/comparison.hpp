// Measures resources side by side: rounds interleaved, each trial in its own process, medians with intervals.
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
    std::uint32_t rounds = 0;          // 0: as many as the figures need, within the limits below
    std::uint32_t min_rounds = 0;      // of so many `rounds`, when they take longer than `max_seconds`; 0: all
    double wanted_uncertainty = 0.02;  // of the ratios, as interval::uncertainty()
    double max_seconds = 8;            // for the rounds beyond the first few
    double min_saving = 0;           // nanoseconds; what the first contender saves needs not be known below half of it
    std::uint32_t litter = 0;        // blocks to fragment the heap with before each trial; memory is measured without
    bool check = false;              // first that every resource keeps what is written into its blocks
    std::uint64_t memory_limit = 0;  // 0: half of what the machine has available
    std::function<void(double)> progress;
};

/// A resource that takes part.
struct contender {
    std::uint32_t resource = 0;  // number in resources()
    resource_parameters parameters{};
    bool without_frees = false;
    bool time_only = false;  // its memory is not asked for, unless a parameter is to be found by it

    friend bool operator==(const contender&, const contender&) = default;
};

/// What was found for one of them.
struct standing {
    interval nanoseconds;          // of one play of the whole sequence: CPU time of all threads, without their waiting
    interval net_nanoseconds;      // the same without what the empty loop takes
    interval wall_nanoseconds;     // from beginning to end
    interval ratio;                // net, to the system's malloc in the same round
    std::uint64_t peak_bytes = 0;  // held of upstream, or by malloc
    std::uint64_t system_bytes = 0;  // that the system gave
    resource_parameters parameters{};
    trial_result last;  // why and where it failed, when it did

    bool failed() const noexcept { return last.failed(); }
};

struct comparison {
    interval loop_nanoseconds;  // what the replay itself costs
    standing system;
    std::vector<standing> standings;  // in the order of the contenders
    interval saved_nanoseconds(std::size_t contender) const;

    std::uint32_t rounds = 0;
    std::uint32_t repeats = 0;               // plays of the sequence in one trial
    std::vector<std::vector<double>> saved;  // nanoseconds a play saved, by contender and round
};

comparison compare(replay_host& host, const sequence_view& sequence, const std::vector<contender>& contenders,
                   const comparison_options& options);

/// Half of the memory that the machine has available.
std::uint64_t default_memory_limit();

}  // namespace acre::tool
