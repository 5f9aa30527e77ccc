// The picture of a contest: what `acre try --report` writes.
#pragma once

#include <string>
#include <vector>

#include "contest.hpp"

namespace acre::tool {

/// One HTML file that needs no other and runs nothing. `command` is the program with its arguments.
std::string try_page(const contest_result& result, const std::vector<std::string>& command);

}  // namespace acre::tool
