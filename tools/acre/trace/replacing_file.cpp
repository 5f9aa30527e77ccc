#include "replacing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "error.hpp"
#include "format.hpp"

namespace acre::tool {

namespace {

std::filesystem::path final_path(const std::filesystem::path& path, written_file what) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status)) return path;
    if (!std::filesystem::is_regular_file(status)) {
        throw tool_error{"cannot write '" + path.string() + "': it exists and is not a regular file"};
    }
    if (what != written_file::trace && begins_as_a_trace(path)) {
        throw tool_error{"cannot write '" + path.string() +
                         "': it is a trace, which only 'acre record' replaces: name another file"};
    }
    const auto canonical = std::filesystem::canonical(path, ignored);
    return ignored ? path : canonical;
}

}  // namespace

bool begins_as_a_trace(const std::filesystem::path& path) {
    std::array<char, format::magic.size()> start{};
    std::ifstream file{path, std::ios::binary};
    return file.read(start.data(), start.size()) && std::memcmp(start.data(), format::magic.data(), start.size()) == 0;
}

replacing_file::replacing_file(const std::filesystem::path& path, written_file what) : path_{final_path(path, what)} {
    temporary_ = path_;
    temporary_ += ".partial-" + std::to_string(::getpid());
    int descriptor = open_without_name();
    has_name_ = descriptor < 0;
    if (has_name_) descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb"));
    if (file_ == nullptr) cannot_write();
}

/// Negative if the system cannot make such a file or give it a name later.
int replacing_file::open_without_name() const {
    if (::access("/proc/self/fd", X_OK) != 0) return -1;
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    return ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

replacing_file::~replacing_file() {
    if (file_ != nullptr && has_name_) ::unlink(temporary_.c_str());
}

void replacing_file::write(std::span<const std::uint8_t> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) cannot_write();
}

void replacing_file::finish() {
    if (std::fflush(file_.get()) != 0) cannot_write();
    if (!has_name_) give_name();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write();
    file_.reset();
}

/// Gives the file a temporary name, since no system call can rename an unnamed file over another.
void replacing_file::give_name() {
    const std::string file = "/proc/self/fd/" + std::to_string(::fileno(file_.get()));
    ::unlink(temporary_.c_str());  // of a process that had this number before
    if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) cannot_write();
    has_name_ = true;
}

void replacing_file::cannot_write() const {
    throw tool_error{"cannot write '" + path_.string() + "': " + std::strerror(errno)};
}

}  // namespace acre::tool
