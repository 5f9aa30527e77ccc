// Writes a file of which there is all or nothing.
#pragma once

#include <filesystem>
#include <string_view>

namespace acre::tool {

/// A file of that name is replaced once the new one is whole; what is no regular file (a pipe, /dev/stdout) is written
/// to as it is. Throws tool_error.
void write_whole_file(const std::filesystem::path& path, std::string_view text);

}  // namespace acre::tool
