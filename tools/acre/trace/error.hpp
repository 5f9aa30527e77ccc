// The error that ends a command and is reported to the user.
#pragma once

#include <stdexcept>

namespace acre::tool {

/// what() is one sentence for the user: what is wrong and, if not obvious, what to do about it.
class tool_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace acre::tool
