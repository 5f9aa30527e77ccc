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

/// Who may use a resource at the same time.
enum class thread_rule : std::uint8_t { one, any };

/// What a trial is for.
enum class trial_purpose : std::uint8_t {
    time,       // the CPU time and the time on the wall
    footprint,  // the memory
    check       // that the resource is right: every block is filled, and looked at before it is given back
};

/// How to play the staged sequence.
struct trial_request {
    std::uint32_t resource = 0;  // number in resources()
    std::uint32_t repeats = 1;   // how often the sequence is played, each time over a new resource
    resource_parameters parameters{};
    std::uint64_t memory_limit = 0;  // bytes that the resource may take from upstream
    std::uint32_t litter = 0;        // blocks to fragment the heap with before
    trial_purpose purpose = trial_purpose::time;
    bool without_frees = false;  // the frees are left out: all ends with the resource
    bool process_ends = false;   // after the last play: what then lives need not be given back
};

/// Why a sequence was not played to its end.
enum class trial_failure : std::uint8_t {
    none,
    out_of_memory,
    misaligned,     // a block is not aligned as was asked
    wrong_content,  // a block holds not what was written into it: it was handed out twice
    not_started     // the process of the resource could not be started
};

/// What came of it.
struct trial_result {
    std::uint64_t nanoseconds = 0;  // CPU time of one play, of all threads, without waiting; the mean of the repeats
    std::uint64_t wall_nanoseconds =
        0;                           // from the start of the threads to the end of the last, the mean of the repeats
    std::uint64_t peak_bytes = 0;    // most that the resource held of upstream, or of the system
    std::uint64_t system_bytes = 0;  // most memory that the system gave for it
    std::uint64_t failed_step = 0;   // when it failed: the step, counted in its lane
    std::uint32_t failed_lane = 0;
    std::int32_t signal = 0;  // that ended the child
    trial_failure failure = trial_failure::none;

    bool failed() const noexcept { return failure != trial_failure::none || signal != 0; }
};

static_assert(std::is_trivially_copyable_v<trial_request> && std::is_trivially_copyable_v<trial_result>);

}  // namespace acre::tool
