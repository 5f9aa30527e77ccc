// The code that an advice asks its reader to paste.
#pragma once

#include <string>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Lines of C++ with acre, complete but for the name T of the reader's type; empty where there is nothing to write.
std::string code_of(const advice& each, const call_paths& paths);

}  // namespace acre::tool
