// A directory that is removed with its contents at the end of a test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace acre::test {

class temporary_directory {
public:
    temporary_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "acre-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make a temporary directory"};
        path_ = name;
    }
    ~temporary_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    std::filesystem::path operator/(const char* name) const { return path_ / name; }
    const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace acre::test
