// A directory that is removed with its contents when its owner ends.
#pragma once

#include <filesystem>
#include <string>

namespace acre::tool {

/// A directory that is removed with its contents in the destructor.
class temporary_directory {
public:
    /// Makes a directory whose path is `prefix` and six letters more, for this user only. Throws tool_error; for a name
    /// that is too long its sentence ends with `if_too_long`, what to do.
    temporary_directory(const std::string& prefix, const std::string& if_too_long);
    ~temporary_directory() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }

    /// Leaves the directory to the user.
    void keep() noexcept { path_.clear(); }

private:
    std::filesystem::path path_;
};

}  // namespace acre::tool
