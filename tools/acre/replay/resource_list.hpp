// What `acre replay --list` says: the resources there are, which are installed, and which can play what.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "comparison.hpp"
#include "sequence.hpp"

namespace acre::tool {

/// Why it cannot be played on this machine, or play the sequence; empty when it can.
std::string not_here(const contender& which);
std::string not_for(const contender& which, const sequence_view& sequence);

/// With a sequence also which can play it; null: without one.
std::string resources_text(const sequence_view* sequence);
nlohmann::json resources_json(const sequence_view* sequence);

}  // namespace acre::tool
