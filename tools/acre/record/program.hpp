// Finds a program as a shell does and checks whether it can be recorded.
#pragma once

#include <filesystem>
#include <string>

namespace acre::tool {

struct recordable_program {
    std::filesystem::path path;
    bool needs_preload = true;  // false: the recorder is linked into it
};

/// Throws tool_error if there is no such program, or if the recorder is not linked into it and cannot be preloaded.
recordable_program find_recordable_program(const std::string& name);

}  // namespace acre::tool
