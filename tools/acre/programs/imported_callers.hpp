// The functions of a program whose code calls one of the C library, whether they ran or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace acre::tool {

/// A call, or a jump as the last step of a function. Without debug information it has no file, and what was inlined is
/// the function around it.
struct imported_call {
    std::string function;
    std::string file{};
    std::uint32_t line = 0;
};

/// The calls in a file of functions that other files have, by their names; each function once, in order of the code.
/// Not those by a pointer.
std::vector<imported_call> callers_of_imported(const std::filesystem::path& file,
                                               std::span<const std::string_view> names);

}  // namespace acre::tool
