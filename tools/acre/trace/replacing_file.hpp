// A file that gets its name only when it is complete.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace acre::tool {

/// Whether a file begins like a trace, of any version, complete or not.
bool begins_as_a_trace(const std::filesystem::path& path);

enum class written_file : std::uint8_t { trace, other };

/// Writes to a temporary file in the same directory, which finish() renames; without finish() it is removed and an
/// older file stays. If the file system allows, the temporary file has no name, so it is gone however the process ends;
/// otherwise its name is NAME.partial-PID, or that with a number where such a file exists. The new file has the mode of
/// the one that it replaces, and its owner and group where the system permits. Every failure throws tool_error.
class replacing_file {
public:
    /// Follows symbolic links, also one whose target does not exist yet. Refuses to replace anything but a regular
    /// file, a program or library, and a trace by anything but a trace.
    explicit replacing_file(const std::filesystem::path& path, written_file what = written_file::other);
    ~replacing_file();
    replacing_file(const replacing_file&) = delete;
    replacing_file& operator=(const replacing_file&) = delete;

    void write(std::span<const std::uint8_t> bytes);
    void write(std::string_view text);

    /// Gives the file its name. Nothing can be written afterwards.
    void finish();

private:
    struct file_closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    int open_without_name() const;
    int open_with_name();
    void keep_mode_and_owner() const;
    std::string partial_name() const;
    void give_name();
    [[noreturn]] void cannot_write() const;

    std::filesystem::path path_;
    std::filesystem::path temporary_;
    bool has_name_ = false;
    std::unique_ptr<std::FILE, file_closer> file_;
};

/// Writes a whole file, as a replacing_file does.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace acre::tool
