// One measurement of one resource: the request to a child process and its result.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace acre::tool {

/// Parameters of a resource, see resource_entry::parameters; 0: the resource chooses.
struct resource_parameters {
    std::uint64_t count = 0;  // of the arenas or slots
    std::uint64_t bytes = 0;  // of each of them, or of an arena's first block

    friend bool operator==(const resource_parameters&, const resource_parameters&) = default;
};

/// How many threads may use a resource at a time.
enum class thread_rule : std::uint8_t { one, any };

/// What a trial measures.
enum class trial_purpose : std::uint8_t {
    time,       // the CPU time and the wall-clock time
    footprint,  // the memory
    check       // nothing; every block is filled, and compared before it is freed
};

/// How to play the staged sequence.
struct trial_request {
    std::uint32_t resource = 0;  // number in resources()
    std::uint32_t repeats = 1;   // plays of the sequence, each over a new resource
    resource_parameters parameters{};
    std::uint64_t memory_limit = 0;          // bytes that the resource may take from upstream
    std::uint32_t fragmentation_blocks = 0;  // to fragment the heap with beforehand
    trial_purpose purpose = trial_purpose::time;
    bool without_frees = false;  // leave out the frees; all memory goes when the resource is destroyed
    bool process_ends = false;   // after the last play, so live objects and the resource are not freed
};

/// Why a sequence was not played to its end.
enum class trial_failure : std::uint8_t {
    none,
    out_of_memory,
    misaligned,     // a block is not aligned as was asked
    wrong_content,  // a block lost its content: the memory was handed out twice
    not_started     // the process that plays the resource could not be started
};

/// The result of a trial.
struct trial_result {
    std::uint64_t nanoseconds = 0;       // CPU time of one play, all threads, without waiting; mean of the repeats
    std::uint64_t wall_nanoseconds = 0;  // from the start of the threads to the end of the last; mean of the repeats
    std::uint64_t peak_bytes = 0;        // peak that the resource held from upstream, or from the system
    std::uint64_t system_bytes = 0;      // peak of the memory from the system
    std::uint64_t failed_step = 0;       // the step that failed, numbered within its lane
    std::uint32_t failed_lane = 0;
    std::int32_t signal = 0;  // that killed the child
    trial_failure failure = trial_failure::none;
    std::array<char, 512> why{};  // it was not started, in words that end with a zero byte; empty: not known

    bool failed() const noexcept { return failure != trial_failure::none || signal != 0; }
};

static_assert(std::is_trivially_copyable_v<trial_request> && std::is_trivially_copyable_v<trial_result>);

}  // namespace acre::tool
