// The words and numbers of what is told about containers whose buffers the program need not allocate.
#pragma once

#include "advice.hpp"
#include "filled_text.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The values in the texts and the code of such an advice.
code_values growth_values(const advice& each, const call_paths& paths);

}  // namespace acre::tool
