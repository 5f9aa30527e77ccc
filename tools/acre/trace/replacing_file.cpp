#include "replacing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "error.hpp"

namespace acre::tool {

namespace {

std::filesystem::path final_path(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status)) return path;
    if (!std::filesystem::is_regular_file(status)) {
        throw tool_error{"cannot write '" + path.string() + "': it exists and is not a regular file"};
    }
    const auto canonical = std::filesystem::canonical(path, ignored);
    return ignored ? path : canonical;
}

}  // namespace

replacing_file::replacing_file(const std::filesystem::path& path) : path_{final_path(path)} {
    temporary_ = path_;
    temporary_ += ".partial-" + std::to_string(::getpid());
    const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb"));
    if (file_ == nullptr) cannot_write();
}

replacing_file::~replacing_file() {
    if (file_ != nullptr) ::unlink(temporary_.c_str());
}

void replacing_file::write(std::span<const std::uint8_t> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) cannot_write();
}

void replacing_file::finish() {
    if (std::fflush(file_.get()) != 0) cannot_write();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write();
    file_.reset();
}

void replacing_file::cannot_write() const {
    throw tool_error{"cannot write '" + path_.string() + "': " + std::strerror(errno)};
}

}  // namespace acre::tool
