// Work in a process of its own, which may die of it, or be ended by a library, without harm to this one.
#pragma once

#include <functional>
#include <string>

namespace acre::tool {

using progress_function = std::function<void(double)>;

/// Does the work in a fork of this process; what it returns comes back, and what it says of its progress. Throws
/// tool_error with the sentence of what it throws, or about how the process ended.
std::string run_apart(const std::function<std::string(const progress_function&)>& work,
                      const progress_function& progress);

/// Whether this process may have only so much memory, as after 'ulimit -v'.
bool memory_is_limited();

}  // namespace acre::tool
