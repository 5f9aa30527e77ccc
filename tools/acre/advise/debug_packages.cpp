#include "debug_packages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr double worth_a_sentence = 0.05;  // of the allocations
constexpr std::size_t max_modules = 3;

/// The other path of a file where /lib is a link to /usr/lib: a package may list either.
std::string merged(const std::string& path) {
    constexpr std::string_view usr = "/usr";
    return path.starts_with("/usr/") ? path.substr(usr.size()) : std::string{usr} + path;
}

std::string package_in_name(const std::filesystem::path& list) {
    const std::string name = list.stem().string();
    return name.substr(0, name.find(':'));
}

bool lists(const std::filesystem::path& list, const std::string& path, const std::string& other) {
    std::ifstream lines{list};
    for (std::string line; std::getline(lines, line);) {
        if (line == path || line == other) return true;
    }
    return false;
}

std::string release_id(const std::filesystem::path& release) {
    constexpr std::string_view key = "ID=";
    std::ifstream lines{release};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(key)) {
            std::erase(line, '"');
            return line.substr(key.size());
        }
    }
    return {};
}

std::string server_of(const std::string& release) {
    if (release == "debian") return "https://debuginfod.debian.net";
    if (release == "ubuntu") return "https://debuginfod.ubuntu.com";
    if (release == "fedora") return "https://debuginfod.fedoraproject.org";
    return "https://debuginfod.elfutils.org";  // asks those of many distributions
}

/// libc6 has a package of the older kind.
std::string debug_package_of(const std::string& package) {
    if (package.empty()) return {};
    return package + (package == "libc6" ? "-dbg" : "-dbgsym");
}

struct missing_names {
    std::uint64_t objects = 0;
    bool has_functions = true;
};

bool is_address(const std::string& function) {
    return function.empty() || function.find("+0x") != std::string::npos;
}

/// By module: the objects of sites without names.
std::map<std::uint32_t, missing_names> count_missing(const advice_list& list, const call_paths& paths,
                                                     const trace_tables& tables) {
    std::map<std::uint32_t, missing_names> missing;
    for (const advice& each : list.advices) {
        for (const site_objects& of : each.sites) {
            const site_info& site = paths.sites()[of.site];
            const std::uint32_t frame = site.stack == no_stack ? 0 : tables.call_tree[site.stack].frame;
            if (site.stack == no_stack || !site.file.empty()) continue;
            if (tables.frames[frame].module == frame_info::no_module) continue;
            missing_names& in = missing[tables.frames[frame].module];
            in.objects += of.objects;
            in.has_functions = in.has_functions && !is_address(paths.functions()[site.function].name);
        }
    }
    return missing;
}

}  // namespace

std::string package_of(const std::filesystem::path& file, const system_files& system) {
    const std::string path = file.string();
    const std::string other = merged(path);
    std::error_code error;
    for (const auto& each : std::filesystem::directory_iterator{system.package_lists, error}) {
        if (each.path().extension() == ".list" && lists(each.path(), path, other)) return package_in_name(each.path());
    }
    return {};
}

std::vector<unnamed_module> unnamed_modules(const advice_list& list, const call_paths& paths,
                                            const trace_tables& tables, const system_files& system) {
    std::vector<unnamed_module> found;
    if (list.objects == 0) return found;
    for (const auto& [module, missing] : count_missing(list, paths, tables)) {
        const double share = static_cast<double>(missing.objects) / static_cast<double>(list.objects);
        if (share < worth_a_sentence) continue;
        const module_info& info = tables.modules[module];
        found.push_back({.path = info.path,
                         .build_id = info.build_id,
                         .package = {},
                         .server = {},
                         .share = share,
                         .has_functions = missing.has_functions});
    }
    std::ranges::sort(found, [](const unnamed_module& a, const unnamed_module& b) {
        return a.share != b.share ? a.share > b.share : a.path < b.path;
    });
    if (found.size() > max_modules) found.resize(max_modules);
    for (unnamed_module& each : found) {
        each.package = debug_package_of(package_of(each.path, system));
        if (!each.build_id.empty()) each.server = server_of(release_id(system.release));
    }
    return found;
}

std::string unnamed_text(const unnamed_module& of) {
    std::string text =
        fmt::format("{} (with {} of the allocations) has no debug information: {} not known.", printable(of.path),
                    percent_text(of.share), of.has_functions ? "files and lines are" : "names of functions are");
    text += of.package.empty() ? " Compile it with -g" : fmt::format(" Install the package {}", of.package);
    if (!of.server.empty()) text += fmt::format(", or set DEBUGINFOD_URLS={}", of.server);
    return text + ", and record again.";
}

nlohmann::json unnamed_json(const std::vector<unnamed_module>& of) {
    nlohmann::json list = nlohmann::json::array();
    for (const unnamed_module& each : of) {
        list.push_back({{"path", each.path},
                        {"build_id", each.build_id},
                        {"package", each.package},
                        {"server", each.server},
                        {"share", each.share},
                        {"has_functions", each.has_functions}});
    }
    return list;
}

}  // namespace acre::tool
