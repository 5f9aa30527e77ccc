// The libraries that acre preloads into programs: where they are, and a path of theirs that LD_PRELOAD can hold.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace acre::tool {

/// The library of acre's with this file name, as it is installed or was built beside this command. The file may be
/// missing. Throws tool_error where /proc is not mounted.
std::filesystem::path library_beside_command(std::string_view name);

/// Path of the first of these libraries that lies where the dynamic loader searches; empty if none does.
std::string find_library(std::span<const std::string_view> names);

/// Whether a file is a shared library, which the dynamic linker preloads, and not a program.
bool is_preloadable(const std::filesystem::path& path);

/// The path of a library, or of a link to it if LD_PRELOAD cannot hold the path: blanks and colons separate paths
/// there, and the dynamic linker replaces tokens such as $LIB. The link is in a folder of this user's in /tmp, and
/// stays for the next run and for programs that outlive this process.
class preloadable_library {
public:
    /// Throws tool_error if there is no such file ("cannot VERB: the library ... is missing"), or if the dynamic linker
    /// would leave it out, or if there can be no link.
    preloadable_library(std::string_view verb, const std::filesystem::path& library);

    const std::filesystem::path& path() const noexcept { return path_; }

    /// The library's own path.
    const std::filesystem::path& library() const noexcept { return library_; }

    bool is_linked() const noexcept { return path_ != library_; }

private:
    std::filesystem::path library_;
    std::filesystem::path path_;
};

/// A value of LD_PRELOAD with this library in front of those that are preloaded already. An empty value before leaves
/// a colon.
std::string preload_value(const std::filesystem::path& library);

}  // namespace acre::tool
