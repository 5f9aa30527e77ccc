// One measurement of one resource: what is asked of a child process and what it answers.
#pragma once

#include <cstdint>
#include <type_traits>

namespace acre::tool {

/// What a resource is made with, as its own parameters say (see resource_entry::parameters); 0: its own choice.
struct resource_parameters {
    std::uint64_t count = 0;  // of the arenas or slots
    std::uint64_t bytes = 0;  // of each of them, or of an arena's first block

    friend bool operator==(const resource_parameters&, const resource_parameters&) = default;
};

/// How to play the staged sequence.
struct trial_request {
    std::uint32_t resource = 0;  // number in resources()
    std::uint32_t repeats = 1;   // how often the sequence is played, each time over a new resource
    resource_parameters parameters{};
    std::uint64_t memory_limit = 0;  // bytes that the resource may take from upstream
    std::uint32_t litter = 0;        // blocks to fragment the heap with before
    bool footprint = false;          // measure the memory, not the time
};

/// What came of it.
struct trial_result {
    static constexpr std::uint64_t no_step = ~std::uint64_t{0};

    std::uint64_t nanoseconds = 0;        // CPU time of one play, the mean of the repeats
    std::uint64_t peak_bytes = 0;         // most that the resource took from upstream
    std::uint64_t failed_step = no_step;  // the step at which it ran out of memory
    std::int32_t signal = 0;              // that ended the child
};

static_assert(std::is_trivially_copyable_v<trial_request> && std::is_trivially_copyable_v<trial_result>);

}  // namespace acre::tool
