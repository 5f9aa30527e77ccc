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
    double wanted_uncertainty = 0.02;  // of the ratios, as interval::uncertainty()
    double most_seconds = 8;           // for the rounds beyond the first few
    std::uint32_t litter = 0;          // see trial_request
    std::uint64_t memory_limit = 0;    // 0: half of what the machine has available
    std::function<void(double)> progress;
};

/// A resource that takes part.
struct contender {
    std::uint32_t resource = 0;  // number in resources()
    resource_parameters parameters{};
};

/// What was found for one of them.
struct standing {
    interval nanoseconds;  // of one play of the whole sequence
    interval ratio;        // to the system's malloc in the same round
    std::uint64_t peak_bytes = 0;
    std::uint64_t failed_step = trial_result::no_step;
    std::int32_t signal = 0;

    bool failed() const noexcept { return signal != 0 || failed_step != trial_result::no_step; }
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
