#include "preload.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace acre::tool {

namespace {

void add_path_list(std::vector<std::string>& folders, const char* list) {
    if (list == nullptr) return;
    std::istringstream parts{list};
    for (std::string part; std::getline(parts, part, ':');) {
        if (!part.empty()) folders.push_back(part);
    }
}

/// The lines of /etc/ld.so.conf.d that name a folder.
void add_configured(std::vector<std::string>& folders) {
    std::error_code error;
    std::vector<std::filesystem::path> files{"/etc/ld.so.conf"};
    for (const auto& entry : std::filesystem::directory_iterator{"/etc/ld.so.conf.d", error}) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
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

}  // namespace

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

bool is_loaded(std::string_view path) {
    const auto compare = [](dl_phdr_info* info, std::size_t, void* wanted) {
        return info->dlpi_name == *static_cast<std::string_view*>(wanted) ? 1 : 0;
    };
    return ::dl_iterate_phdr(compare, &path) != 0;
}

}  // namespace acre::tool
