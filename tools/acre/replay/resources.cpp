#include "resources.hpp"

#include <fmt/format.h>

#include <acre/core/sanitizer.hpp>
#include <vector>

#include "preload.hpp"
#include "resource_families.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

std::vector<resource_entry> all_families() {
    std::vector<resource_entry> all;
    for (const auto family : {system_resources(), preloaded_resources(), standard_resources(), arena_resources(),
                              multi_arena_resources(), pool_resources(), sized_pool_resources()}) {
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
    return entry.start.libraries.empty() ? std::string{} : find_library(entry.start.libraries);
}

bool is_installed(const resource_entry& entry) {
    // A library that is preloaded and AddressSanitizer's own malloc exclude each other.
    return entry.start.libraries.empty() || (!acre::poisoning && !library_of(entry).empty());
}

}  // namespace acre::tool
