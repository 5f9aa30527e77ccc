// Calls that a compiler made jumps, since they are the last step of a function: its frame is gone before the called
// function begins.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "made_types.hpp"

namespace acre::tool {

/// A jump at the end of a function.
struct tail_call {
    std::uint64_t place;                  // an address in the jump, as in the debug information
    std::optional<std::uint64_t> target;  // in the file; nothing: through a pointer
};

/// The jumps by which a function is left, by the debug information. `shift`: what the addresses of the debug
/// information exceed those of the file by.
std::vector<tail_call> tail_calls_of(Dwarf_Die function, const call_code& code, std::uint64_t shift);

/// Whether a symbol is a function that the recorder records, so that there is no stack that has it.
bool is_recorded_function(const char* symbol);

}  // namespace acre::tool
