// Which files of a program lack debug information, and which package would have it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Where this system keeps what is asked here; tests have their own.
struct system_files {
    std::filesystem::path package_lists = "/var/lib/dpkg/info";  // NAME.list or NAME:ARCHITECTURE.list
    std::filesystem::path release = "/etc/os-release";
};

/// The Debian package that a file was installed from; empty if it is of none.
std::string package_of(const std::filesystem::path& file, const system_files& system = {});

/// The files whose advised sites have no function or no line, most allocations first. Those with few allocations are
/// left out.
std::vector<unnamed_module> unnamed_modules(const advice_list& list, const call_paths& paths,
                                            const trace_tables& tables, const system_files& system = {});

/// A sentence: what is missing, and how to get it.
std::string unnamed_text(const unnamed_module& of);

nlohmann::json unnamed_json(const std::vector<unnamed_module>& of);

}  // namespace acre::tool
