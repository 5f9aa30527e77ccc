// Tells how a replay went to a person or to a machine.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace acre::tool {

/// What was replayed and what came of it.
struct replay_outcome {
    std::string trace;
    std::uint64_t events = 0;
    std::uint64_t threads = 0;
    std::uint64_t peak_bytes = 0;  // alive at a time
    bool littered = false;
    std::vector<contender> contenders;
    comparison result;

    bool any_failed() const;
};

std::string replay_text(const replay_outcome& outcome);
nlohmann::json replay_json(const replay_outcome& outcome);

/// A sentence for each resource that could not play the trace.
std::vector<std::string> replay_failures(const replay_outcome& outcome);

}  // namespace acre::tool
