// Where a program's code and data use functions of other files, as those of the C library, whether that ran or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "use_kind.hpp"

namespace acre::tool {

/// A use of a function of another file. Without debug information it has no file, and what was inlined is the function
/// around it.
struct imported_use {
    std::string name;  // of the function that uses it, or of the variable
    std::string imported{};
    use_kind kind = use_kind::call;
    std::string file{};
    std::uint32_t line = 0;
};

/// The uses in a file of functions that other files have, by their names: of those in one function for one purpose the
/// first. Not calls by a pointer.
std::vector<imported_use> uses_of_imported(const std::filesystem::path& file, std::span<const std::string_view> names);

}  // namespace acre::tool
