// The values of an advice in the texts and the code that verdict.cpp has for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// What is changed: "spawn", "std::vector<int> of book", "class orc", "everything behind lua_Alloc".
std::string subject_of(const advice& each, const call_paths& paths);

/// Names and values in texts, besides those that the advice itself gives.
using code_values = std::vector<std::pair<const char*, std::string>>;

/// Fills the values that the texts of verdict.cpp name.
std::string filled(const char* text, const advice& each, const call_paths& paths, const code_values& more = {});

}  // namespace acre::tool
