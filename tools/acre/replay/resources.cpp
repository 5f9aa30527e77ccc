#include "resources.hpp"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "arrangement.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

std::vector<resource_entry> all_families() {
    std::vector<resource_entry> all;
    for (const auto family :
         {other_resources(), arena_resources(), multi_arena_resources(), pool_resources(), slot_pool_resources()}) {
        all.insert(all.end(), family.begin(), family.end());
    }
    return all;
}

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

/// Path of the first of these libraries that lies where the dynamic loader searches; empty if none does.
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

}  // namespace

std::span<const resource_entry> resources() {
    static const std::vector<resource_entry> all = all_families();
    return all;
}

std::uint32_t resource_number(std::string_view name) {
    const auto all = resources();
    std::string names;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (i == loop_number) continue;
        if (all[i].name == name) return i;
        names += (i == 0 ? "" : ", ") + std::string{all[i].name};
    }
    throw tool_error{fmt::format("there is no resource '{}': known are {}", name, names)};
}

std::string library_of(const resource_entry& entry) {
    return entry.start.libraries.empty() ? std::string{} : find_library(entry.start.libraries);
}

bool is_installed(const resource_entry& entry) {
    // AddressSanitizer's own malloc and a preloaded one exclude each other.
    return entry.start.libraries.empty() || (!acre::poisoning && !library_of(entry).empty());
}

bool is_loaded(std::string_view path) {
    const auto compare = [](dl_phdr_info* info, std::size_t, void* wanted) {
        return info->dlpi_name == *static_cast<std::string_view*>(wanted) ? 1 : 0;
    };
    return ::dl_iterate_phdr(compare, &path) != 0;
}

}  // namespace acre::tool
