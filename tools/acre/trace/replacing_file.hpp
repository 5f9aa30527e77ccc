// A file that is there under its name only when it is whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

namespace acre::tool {

/// Whether the file begins as every trace does, also one of another version or one that was cut off.
bool begins_as_a_trace(const std::filesystem::path& path);

enum class written_file : std::uint8_t { trace, other };

/// What is written goes to a temporary file in the same folder, which finish() gives the name; without finish() nothing
/// is left of it, and an older file of that name stays. It has no name of its own, so that it is gone with the process
/// however that ends, where the file system can do that. Every failure throws tool_error.
class replacing_file {
public:
    /// Refuses a name that must not be replaced by a file, and a recording unless a trace is written; follows symbolic
    /// links.
    explicit replacing_file(const std::filesystem::path& path, written_file what = written_file::other);
    ~replacing_file();
    replacing_file(const replacing_file&) = delete;
    replacing_file& operator=(const replacing_file&) = delete;

    void write(std::span<const std::uint8_t> bytes);

    /// Nothing can be written after that.
    void finish();

private:
    struct file_closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    int open_without_name() const;
    void give_name();
    [[noreturn]] void cannot_write() const;

    std::filesystem::path path_;
    std::filesystem::path temporary_;
    bool has_name_ = false;
    std::unique_ptr<std::FILE, file_closer> file_;
};

}  // namespace acre::tool
