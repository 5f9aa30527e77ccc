// The failure that a command reports to its user and ends with.
#pragma once

#include <stdexcept>

namespace acre::tool {

/// what() is one sentence for the user: what is wrong, and what to do about it where that is not plain.
class tool_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace acre::tool
