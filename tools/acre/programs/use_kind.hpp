// How code or data uses a function of another file.
#pragma once

#include <cstdint>

namespace acre::tool {

enum class use_kind : std::uint8_t {
    call,
    jump,      // as the last step of a function
    address,   // the code takes the address
    variable,  // a variable of the program has the address from the beginning
};

}  // namespace acre::tool
