// A file without a name, for data that does not fit in memory. It is gone when the program ends, however it ends.
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
    unnamed_file& operator=(unnamed_file&& from) noexcept {
        unnamed_file{std::move(from)}.swap(*this);
        return *this;
    }
    void swap(unnamed_file& other) noexcept {
        std::swap(file_, other.file_);
        std::swap(size_, other.size_);
        std::swap(directory_, other.directory_);
    }

    /// Appends bytes; the first call creates the file, in $TMPDIR or else in /var/tmp. Throws tool_error on failure.
    void write(std::span<const std::byte> bytes);

    /// Reads bytes at an offset, all of which must have been written.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

    /// Extends the file to that size and reserves the disk space, so that writing to a mapping never fails.
    void reserve(std::uint64_t bytes);

    /// The descriptor, owned by this object; -1 before the first write() or reserve().
    int descriptor() const noexcept { return file_; }

private:
    void create();
    [[noreturn]] void fail(const char* what) const;

    int file_ = -1;
    std::uint64_t size_ = 0;
    std::string directory_;
};

}  // namespace acre::tool
