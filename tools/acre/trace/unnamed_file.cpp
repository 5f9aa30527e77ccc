#include "unnamed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "error.hpp"

namespace acre::tool {

unnamed_file::~unnamed_file() {
    if (file_ >= 0) ::close(file_);
}

void unnamed_file::write(std::span<const std::byte> bytes) {
    if (file_ < 0) create();
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail("write");
        size_ += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void unnamed_file::read(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) fail("read");
        offset += static_cast<std::uint64_t>(got);
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
}

void unnamed_file::reserve(std::uint64_t bytes) {
    if (file_ < 0) create();
    if (bytes <= size_) return;
    errno = ::posix_fallocate(file_, static_cast<off_t>(size_), static_cast<off_t>(bytes - size_));
    if (errno != 0) fail("enlarge");
    size_ = bytes;
}

void unnamed_file::create() {
    const char* wanted = std::getenv("TMPDIR");
    // Not /tmp, which may be in memory.
    directory_ = wanted != nullptr && *wanted != '\0' ? wanted : "/var/tmp";
    file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file_ >= 0) return;
    // Not every file system supports O_TMPFILE.
    std::string name = directory_ + "/acre-XXXXXX";
    file_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (file_ < 0) fail("make");
    ::unlink(name.c_str());
}

void unnamed_file::fail(const char* what) const {
    const int error = errno;
    const std::string why = error == 0 ? "it is shorter than it was" : reason_of(error);
    const bool has_remedy = error == EFBIG || error == EMFILE;
    throw tool_error{std::string{"cannot "} + what + " a temporary file in '" + directory_ + "': " + why +
                     (has_remedy ? "" : "; set TMPDIR to a directory with more room")};
}

}  // namespace acre::tool
