#include "resources.hpp"

#include <fmt/format.h>
#include <link.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <filesystem>
#include <vector>

#include "programs/preloadable_library.hpp"
#include "resource_lists.hpp"
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
    if (entry.start.libraries.empty()) return {};
    if (!entry.start.is_acres) return find_library(entry.start.libraries);
    const std::filesystem::path library = library_beside_command(entry.start.libraries.front());
    return std::filesystem::exists(library) ? library.string() : std::string{};
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
