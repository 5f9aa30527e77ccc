// Libraries that replace malloc: where they are, and whether one is in use.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace acre::tool {

/// Path of the first of these libraries that is installed where the loader looks for libraries; empty when none is.
std::string find_library(std::span<const std::string_view> names);

/// True when this process has loaded the library.
bool is_loaded(std::string_view path);

}  // namespace acre::tool
