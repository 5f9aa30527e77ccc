#include "replacing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "error.hpp"
#include "format.hpp"

namespace acre::tool {

namespace {

constexpr int max_links = 40;           // as many as the system follows
constexpr int max_partial_names = 100;  // of files that killed processes left

bool begins_with(const std::filesystem::path& path, std::string_view magic) {
    std::string start(magic.size(), 0);
    std::ifstream file{path, std::ios::binary};
    return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == magic;
}

/// The file that a chain of symbolic links leads to, which may not exist.
std::filesystem::path target_of(std::filesystem::path path) {
    std::error_code error;
    for (int i = 0; i < max_links; ++i) {
        const std::filesystem::path target = std::filesystem::read_symlink(path, error);
        if (error) return path;
        path = path.parent_path() / target;  // the target alone if it is absolute
    }
    return path;
}

std::filesystem::path final_path(const std::filesystem::path& path, written_file what) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status)) return target_of(path);
    if (!std::filesystem::is_regular_file(status)) {
        throw tool_error{"cannot write '" + path.string() + "': it exists and is not a regular file"};
    }
    if (what != written_file::trace && begins_as_a_trace(path)) {
        throw tool_error{"cannot write '" + path.string() +
                         "': it is a trace, which only 'acre record' replaces: name another file"};
    }
    if (begins_with(path,
                    "\x7f"
                    "ELF")) {
        throw tool_error{"cannot write '" + path.string() + "': it is a program or a library: name another file"};
    }
    const auto canonical = std::filesystem::canonical(path, ignored);
    return ignored ? path : canonical;
}

/// Calls `make` with one name after the other until the name is not that of an existing file, which may be another
/// process's or a link that someone set as a trap. Returns what `make` returned last.
template <typename Make>
int with_unused_name(const std::string& name, std::filesystem::path& chosen, Make make) {
    int made = -1;
    for (int i = 1; i <= max_partial_names; ++i) {
        chosen = i == 1 ? name : name + "-" + std::to_string(i);
        made = make(chosen.c_str());
        if (made >= 0 || errno != EEXIST) break;
    }
    return made;
}

}  // namespace

bool begins_as_a_trace(const std::filesystem::path& path) {
    return begins_with(path,
                       std::string_view{reinterpret_cast<const char*>(format::magic.data()), format::magic.size()});
}

replacing_file::replacing_file(const std::filesystem::path& path, written_file what) : path_{final_path(path, what)} {
    int descriptor = open_without_name();
    has_name_ = descriptor < 0;
    if (has_name_) descriptor = open_with_name();
    file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb"));
    if (file_ == nullptr) cannot_write();
    keep_mode_and_owner();
}

/// Negative if the system cannot make such a file or give it a name later.
int replacing_file::open_without_name() const {
    if (::access("/proc/self/fd", X_OK) != 0) return -1;
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    return ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

int replacing_file::open_with_name() {
    return with_unused_name(partial_name(), temporary_, [](const char* name) {
        return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    });
}

/// A new file keeps the mode that the umask gave it.
void replacing_file::keep_mode_and_owner() const {
    struct stat replaced{};
    if (::stat(path_.c_str(), &replaced) != 0) return;
    const int file = ::fileno(file_.get());
    // In turn: who may not give a file away may still choose among the own groups.
    const bool owned = ::fchown(file, static_cast<uid_t>(-1), replaced.st_gid) == 0 &&
                       ::fchown(file, replaced.st_uid, static_cast<gid_t>(-1)) == 0;
    // Another owner's file never runs with that owner's rights.
    const mode_t kept = owned ? 07777 : 0777;
    (void)::fchmod(file, replaced.st_mode & kept);
}

std::string replacing_file::partial_name() const {
    return path_.string() + ".partial-" + std::to_string(::getpid());
}

replacing_file::~replacing_file() {
    if (file_ != nullptr && has_name_) ::unlink(temporary_.c_str());
}

void replacing_file::write(std::span<const std::uint8_t> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) cannot_write();
}

void replacing_file::write(std::string_view text) {
    write(std::span{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
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
    const int linked = with_unused_name(partial_name(), temporary_, [&](const char* name) {
        return ::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    });
    if (linked != 0) cannot_write();
    has_name_ = true;
}

void replacing_file::cannot_write() const {
    throw tool_error{"cannot write '" + path_.string() + "': " + reason_of(errno)};
}

void write_file(const std::filesystem::path& path, std::string_view text) {
    replacing_file file{path};
    file.write(text);
    file.finish();
}

}  // namespace acre::tool
