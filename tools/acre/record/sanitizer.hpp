// Which programs bring the malloc of a sanitizer: what a recorder in front of it would not see, or would break.
#pragma once

#include <filesystem>
#include <string>

namespace acre::tool {

/// The sanitizer that a program is built with, in words, as far as it has a malloc of its own; empty: none.
std::string sanitizer_of(const std::filesystem::path& program);

}  // namespace acre::tool
