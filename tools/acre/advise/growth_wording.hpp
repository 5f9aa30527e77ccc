// The words and numbers of what is told about containers whose buffers the program need not allocate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Names and values in texts, besides those that the advice itself gives.
using code_values = std::vector<std::pair<const char*, std::string>>;

/// The values in the texts and the code of such an advice.
code_values growth_values(const advice& each, const call_paths& paths);

}  // namespace acre::tool
