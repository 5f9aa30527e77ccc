// Finds a program as a shell does and says whether it can be recorded.
#pragma once

#include <filesystem>
#include <string>

namespace acre::tool {

/// Where the program is; throws tool_error when there is none or when nothing can be preloaded into it.
std::filesystem::path find_recordable_program(const std::string& name);

}  // namespace acre::tool
