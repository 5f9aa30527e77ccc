// The result of a replay as text or JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace acre::tool {

/// The comparison on one kind of heap.
struct heap_outcome {
    std::uint32_t fragmentation_blocks = 0;  // 0: a clean heap
    comparison result;
};

/// A contender that did not take part, and why.
struct left_out {
    std::string name;
    std::string why;
};

/// What was replayed and the results.
struct replay_outcome {
    std::string trace;
    std::uint64_t events = 0;           // replayed, the first ones
    std::uint64_t recorded_events = 0;  // all of the trace
    bool is_sample = false;             // the events are of the whole run, not its first ones
    bool is_as_asked = false;           // the user gave the number of events
    std::uint64_t threads = 0;
    std::uint32_t lanes = 1;                    // threads that played
    std::uint64_t peak_bytes = 0;               // peak of the live bytes
    std::uint64_t touched = ~std::uint64_t{0};  // see sequence
    std::uint64_t reserved_blocks = 0;
    std::vector<contender> contenders;
    std::vector<left_out> others;
    std::vector<heap_outcome> heaps;  // never empty

    /// The figures of a contender; number 0 is the system's malloc.
    const standing& found(std::size_t heap, std::size_t number) const {
        const comparison& result = heaps[heap].result;
        return number == 0 ? result.system : result.standings[number - 1];
    }
    std::size_t players() const noexcept { return contenders.size() + 1; }
    bool is_whole() const noexcept { return events == recorded_events; }
    bool any_failed() const;
};

/// A contender that failed.
struct replay_failure {
    std::string name;
    trial_result how;
    std::size_t player = 0;  // see replay_outcome::found
    std::string event{};     // that failed, in words; empty if not known
};

/// Each contender that failed, once.
std::vector<replay_failure> replay_failures(const replay_outcome& outcome);

/// A sentence: "multi_arena ran out of memory at event 1,234 (allocation of 96 bytes at parse() (json.cpp:12))".
std::string failure_text(const replay_failure& failure);

std::string replay_text(const replay_outcome& outcome);

/// `failures`: those of replay_failures(), with their events.
nlohmann::json replay_json(const replay_outcome& outcome, const std::vector<replay_failure>& failures);

}  // namespace acre::tool
