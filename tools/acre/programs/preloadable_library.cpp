#include "preloadable_library.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
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
    : path_{fs::absolute(library)} {
    std::error_code error;
    if (!fs::exists(path_, error)) {
        throw tool_error{"cannot " + std::string{verb} + ": the library '" + path_.string() + "' is missing"};
    }
    if (const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC); file < 0) {
        throw tool_error{"cannot " + std::string{verb} + ": cannot open '" + path_.string() + "': " + reason_of(errno)};
    } else {
        ::close(file);
    }
    if (!is_preloadable(path_)) {
        throw tool_error{"cannot " + std::string{verb} + ": '" + path_.string() +
                         "' is no shared library for this processor that can be read"};
    }
    if (path_.string().find_first_of(": \t\n$") == std::string::npos) return;
    // TMPDIR may contain such characters as well.
    link_ = std::make_unique<temporary_directory>("/tmp/acre-", "make /tmp a folder");
    const fs::path link = link_->path() / path_.filename();
    fs::create_symlink(path_, link);
    path_ = link;
}

std::string preload_value(const fs::path& library) {
    const char* others = std::getenv("LD_PRELOAD");
    return others == nullptr ? library.string() : library.string() + ":" + others;
}

}  // namespace acre::tool
