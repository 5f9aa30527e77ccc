// The error that ends a command and is reported to the user.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace acre::tool {

/// what() is one sentence for the user: what is wrong and, if not obvious, what to do about it.
class tool_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The end of a sentence about a call that failed with this errno: why, and how to raise a limit that was reached.
inline std::string reason_of(int error) {
    if (error == EFBIG) return "it reached the file size limit: raise it with 'ulimit -f unlimited'";
    if (error == EMFILE) return "too many files are open: raise the limit with 'ulimit -n 1024'";
    return std::strerror(error);
}

}  // namespace acre::tool
