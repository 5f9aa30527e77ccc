#include "preloadable_library.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "opened_elf.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

namespace fs = std::filesystem;

void add_path_list(std::vector<std::string>& folders, const char* list) {
    if (list == nullptr) return;
    std::istringstream parts{list};
    for (std::string part; std::getline(parts, part, ':');) {
        if (!part.empty()) folders.push_back(part);
    }
}

/// Adds the folders that /etc/ld.so.conf and /etc/ld.so.conf.d name.
void add_configured(std::vector<std::string>& folders) {
    std::error_code error;
    std::vector<fs::path> files{"/etc/ld.so.conf"};
    for (const auto& entry : fs::directory_iterator{"/etc/ld.so.conf.d", error}) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
        std::ifstream file{path};
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with('/')) folders.push_back(line);
        }
    }
}

std::vector<std::string> library_folders() {
    std::vector<std::string> folders;
    add_path_list(folders, std::getenv("LD_LIBRARY_PATH"));
    add_configured(folders);
    folders.insert(folders.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    return folders;
}

/// Whether the dynamic section says that the file is a program, which lies at any address.
bool is_program(Elf* file) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
        GElf_Shdr head{};
        if (gelf_getshdr(section, &head) == nullptr || head.sh_type != SHT_DYNAMIC) continue;
        Elf_Data* entries = elf_getdata(section, nullptr);
        GElf_Dyn entry{};
        for (int i = 0; entries != nullptr && gelf_getdyn(entries, i, &entry) != nullptr; ++i)
            if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) return true;
    }
    return false;
}

// LD_PRELOAD separates paths by the first ones, and the dynamic linker replaces tokens that begin with the last one.
constexpr std::string_view not_in_ld_preload = ": \t\n$";

/// Why there can be no link to a library, as the end of a sentence; empty if there can.
std::string refusal_of(const fs::path& folder_of_links) {
    // TMPDIR may contain such characters as well, so the folder is in /tmp. Programs that run as another user follow
    // the links, and only this user may change them.
    if (::mkdir(folder_of_links.c_str(), 0755) == 0) {
        ::chmod(folder_of_links.c_str(), 0755);  // whatever the umask is
    } else if (errno != EEXIST) {
        return "cannot make the folder '" + folder_of_links.string() + "' for a link to it: " + reason_of(errno);
    }
    struct stat found{};
    const bool is_ours = ::lstat(folder_of_links.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                         found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return is_ours ? "" : "'" + folder_of_links.string() + "' is no folder that only you can change";
}

/// Makes the link, or finds the one that another run made: it stays, since a program that is run in place of this
/// process cannot remove it at its end.
fs::path link_to(const fs::path& library, const std::string& verb) {
    constexpr std::size_t max_name_bytes = 200;
    std::string name = library.filename().string().substr(0, max_name_bytes);
    for (char& each : name)
        if (not_in_ld_preload.find(each) != std::string_view::npos) each = '_';
    const fs::path folder = "/tmp/acre-links-" + std::to_string(::geteuid());
    const fs::path link = folder / (name + "." + std::to_string(std::hash<std::string>{}(library.string())));
    std::string why = refusal_of(folder);
    if (why.empty() && ::symlink(library.c_str(), link.c_str()) != 0 && errno != EEXIST)
        why = "cannot make the link '" + link.string() + "' to it: " + reason_of(errno);
    std::error_code error;
    if (why.empty() && fs::read_symlink(link, error) != library) why = "'" + link.string() + "' is no link to it";
    if (why.empty()) return link;
    throw tool_error{"cannot " + verb + ": LD_PRELOAD cannot hold '" + library.string() +
                     "', which has a blank, a colon or a $, and " + why + ": use it from a path without them"};
}

}  // namespace

/// The dynamic linker leaves other files out, with a line on the program's standard error.
bool is_preloadable(const fs::path& path) {
    bool result = false;
    with_elf_file(path, [&](Elf* file) {
        GElf_Ehdr head{};
        result = gelf_getehdr(file, &head) != nullptr && head.e_type == ET_DYN && head.e_machine == EM_X86_64 &&
                 head.e_ident[EI_CLASS] == ELFCLASS64 && !is_program(file);
    });
    return result;
}

fs::path library_beside_command(std::string_view name) {
    std::error_code error;
    fs::path program = fs::read_symlink("/proc/self/exe", error);
    // Without /proc: the name by which this process was executed, unless the working directory has changed since.
    if (error) program = fs::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), error);
    if (error) {
        throw tool_error{"/proc is not mounted, so acre does not find its library " + std::string{name} + ": mount it"};
    }
    const fs::path here = program.parent_path();
    for (const char* folder : {ACRE_LIBRARY_FOLDER, "../lib", "."}) {
        const fs::path candidate = (here / folder / name).lexically_normal();
        if (fs::exists(candidate, error)) return candidate;
    }
    return here / name;
}

std::string find_library(std::span<const std::string_view> names) {
    const std::vector<std::string> folders = library_folders();
    for (const std::string_view name : names) {
        for (const std::string& folder : folders) {
            const std::string path = folder + "/" + std::string{name};
            if (::access(path.c_str(), R_OK) == 0) return path;
        }
    }
    return {};
}

preloadable_library::preloadable_library(std::string_view verb, const fs::path& library)
    : library_{fs::absolute(library)}, path_{library_} {
    std::error_code error;
    if (!fs::exists(library_, error)) {
        throw tool_error{"cannot " + std::string{verb} + ": the library '" + library_.string() + "' is missing"};
    }
    if (const int file = ::open(library_.c_str(), O_RDONLY | O_CLOEXEC); file < 0) {
        throw tool_error{"cannot " + std::string{verb} + ": cannot open '" + library_.string() +
                         "': " + reason_of(errno)};
    } else {
        ::close(file);
    }
    if (!is_preloadable(library_)) {
        throw tool_error{"cannot " + std::string{verb} + ": '" + library_.string() +
                         "' is no shared library for this processor that can be read"};
    }
    if (library_.string().find_first_of(not_in_ld_preload) != std::string::npos)
        path_ = link_to(library_, std::string{verb});
}

std::string preload_value(const fs::path& library) {
    const char* others = std::getenv("LD_PRELOAD");
    return others == nullptr ? library.string() : library.string() + ":" + others;
}

}  // namespace acre::tool
