// Finds a program as a shell does and says whether it can be recorded.
#pragma once

#include <filesystem>
#include <string>

namespace acre::tool {

struct recordable_program {
    std::filesystem::path path;
    bool needs_preload = true;  // false: the recorder is linked into it, and another one would only be in its way
};

/// Finds the program; throws tool_error when there is none or when the recorder can neither be preloaded into it nor is
/// linked into it.
recordable_program find_recordable_program(const std::string& name);

}  // namespace acre::tool
