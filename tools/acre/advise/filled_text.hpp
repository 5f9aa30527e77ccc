// The values of an advice in the texts and the code that verdict.cpp has for it.
#pragma once

#include <string>

#include "advice.hpp"
#include "growth_wording.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// What is changed: "spawn", "std::vector<int> of book", "class orc", "everything behind lua_Alloc".
std::string subject_of(const advice& each, const call_paths& paths);

/// Fills the values that the texts of verdict.cpp name.
std::string filled(const char* text, const advice& each, const call_paths& paths, const code_values& more = {});

}  // namespace acre::tool
