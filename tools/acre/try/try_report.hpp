// What `acre try` prints: a table for people, an object for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "contest.hpp"

namespace acre::tool {

/// `command` is the program with its arguments.
std::string try_text(const contest_result& result, const std::vector<std::string>& command);

nlohmann::json try_json(const contest_result& result, const std::vector<std::string>& command);

}  // namespace acre::tool
