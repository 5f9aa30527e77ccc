#include "temporary_directory.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "trace/error.hpp"

namespace acre::tool {

temporary_directory::temporary_directory(const std::string& prefix, const std::string& if_too_long) {
    std::string name = prefix + "XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        if (errno == ENAMETOOLONG)
            throw tool_error{"cannot write to '" + prefix + "XXXXXX': " + reason_of(errno) + "; " + if_too_long};
        throw tool_error{"cannot write to '" + std::filesystem::path{prefix}.parent_path().string() +
                         "': " + reason_of(errno)};
    }
    path_ = name;
    ::chmod(name.c_str(), 0700);  // whatever the umask is
}

}  // namespace acre::tool
