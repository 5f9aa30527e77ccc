// A file without a name, for what does not fit in memory: it is gone when this program ends, however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace acre::tool {

class unnamed_file {
public:
    unnamed_file() = default;
    ~unnamed_file();
    unnamed_file(unnamed_file&& from) noexcept
        : file_{std::exchange(from.file_, -1)}, size_{from.size_}, directory_{std::move(from.directory_)} {}
    unnamed_file& operator=(unnamed_file&&) = delete;
    void swap(unnamed_file& other) noexcept {
        std::swap(file_, other.file_);
        std::swap(size_, other.size_);
        std::swap(directory_, other.directory_);
    }

    /// Appends; the first time makes the file, in $TMPDIR or else in /var/tmp. Throws tool_error when that cannot be
    /// done.
    void write(std::span<const std::byte> bytes);

    /// Reads what was written at that offset; all of it must be there.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

    /// Makes it so large, with room on the disk for all of it, so that what maps it never finds the disk full.
    void reserve(std::uint64_t bytes);

    /// The file, which stays this object's; -1 before the first writing or reserving.
    int descriptor() const noexcept { return file_; }

private:
    void create();
    [[noreturn]] void fail(const char* what) const;

    int file_ = -1;
    std::uint64_t size_ = 0;
    std::string directory_;
};

}  // namespace acre::tool
