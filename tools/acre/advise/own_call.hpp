// Where the program's own code calls what allocates or frees.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/call_paths.hpp"

namespace acre::tool {

/// A function of the program: of no library that allocates for it; also if it is named like malloc.
bool is_own(const function_info& of);

/// A call in a function of the program.
struct own_call {
    std::uint32_t frame = 0;
    std::uint32_t function = 0;
};

/// The innermost one in a stack; nothing where all its functions are those of libraries.
std::optional<own_call> innermost_own_call(std::uint32_t stack, const call_paths& paths);

}  // namespace acre::tool
