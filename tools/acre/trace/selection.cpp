#include "selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "error.hpp"

namespace acre::tool {

namespace {

/// "parse" for "parse[abi:cxx11]".
std::string without_abi_tags(std::string name) {
    for (std::size_t at = name.find("[abi:"); at != std::string::npos; at = name.find("[abi:", at)) {
        const std::size_t end = name.find(']', at);
        name.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return name;
}

bool is_named(const function_info& function, const std::string& name) {
    const auto is = [&](const std::string& given) { return given == name || without_abi_tags(given) == name; };
    return is(function.name) || is(function.short_name);
}

/// "src/orc.cpp:7" and "orc.cpp:7" are both the site at line 7 of src/orc.cpp, in whichever folder that lies.
bool is_at(const site_info& site, const std::string& place) {
    const std::string full = fmt::format("{}:{}", site.file, site.line);
    if (site.file.empty() || !full.ends_with(place)) return false;
    return full.size() == place.size() || full[full.size() - place.size() - 1] == '/';
}

bool is_site(const call_paths& paths, std::uint32_t site, const std::string& text) {
    const site_info& info = paths.sites()[site];
    return is_named(paths.functions()[info.function], text) || is_at(info, text);
}

[[noreturn]] void not_there(const char* what, const std::string& name) {
    throw tool_error{
        fmt::format("there is no {} '{}' in the trace: 'acre info' lists those that allocate most", what, name)};
}

/// By number of its name.
std::vector<bool> named_scopes(const std::vector<std::string>& scopes, const std::vector<std::string>& names) {
    std::vector<bool> named(scopes.size());
    for (const std::string& name : names) {
        const auto found = std::find(scopes.begin(), scopes.end(), name);
        if (found == scopes.end())
            throw tool_error{fmt::format(
                "there is no scope '{}' in the trace: a program marks scopes with acre::trace_scope", name)};
        named[static_cast<std::size_t>(found - scopes.begin())] = true;
    }
    return named;
}

/// By site: whether one of the texts names it.
std::vector<bool> named_sites(const call_paths& paths, const std::vector<std::string>& texts) {
    std::vector<bool> named(paths.sites().size());
    for (const std::string& text : texts) {
        bool any = false;
        for (std::uint32_t site = 0; site < named.size(); ++site) {
            if (!is_site(paths, site, text)) continue;
            named[site] = true;
            any = true;
        }
        if (!any) not_there("site", text);
    }
    return named;
}

/// By node of the tree of functions: whether one of the functions is there or above.
std::vector<bool> nodes_beneath(const call_paths& paths, const std::vector<std::string>& names) {
    const auto& functions = paths.functions();
    for (const std::string& name : names) {
        if (std::none_of(functions.begin(), functions.end(), [&](const auto& each) { return is_named(each, name); }))
            not_there("function", name);
    }
    std::vector<bool> wanted(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
        wanted[i] =
            std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_named(functions[i], name); });
    }
    std::vector<bool> beneath(paths.nodes().size());
    for (std::size_t node = 1; node < beneath.size(); ++node) {
        beneath[node] = wanted[paths.nodes()[node].function] || beneath[paths.nodes()[node].parent];
    }
    return beneath;
}

}  // namespace

bool selection_options::empty() const noexcept {
    return functions.empty() && scopes.empty() && sites.empty() && without.empty() && !min_bytes && !max_bytes &&
           !thread;
}

std::string selection_options::text() const {
    std::vector<std::string> parts;
    if (!functions.empty()) parts.push_back(fmt::format("through {}", fmt::join(functions, " or ")));
    if (!scopes.empty()) parts.push_back(fmt::format("in the scope {}", fmt::join(scopes, " or ")));
    if (!sites.empty()) parts.push_back(fmt::format("at {}", fmt::join(sites, " or ")));
    if (!without.empty()) parts.push_back(fmt::format("not at {}", fmt::join(without, " or ")));
    if (min_bytes && max_bytes) parts.push_back(fmt::format("of {} to {} bytes", *min_bytes, *max_bytes));
    if (min_bytes && !max_bytes) parts.push_back(fmt::format("of at least {} bytes", *min_bytes));
    if (!min_bytes && max_bytes) parts.push_back(fmt::format("of at most {} bytes", *max_bytes));
    if (thread) parts.push_back(fmt::format("by thread {}", *thread));
    return fmt::format("{}", fmt::join(parts, ", "));
}

selection::selection(const selection_options& options, const call_paths& paths, const trace_tables& tables)
    : options_{options},
      takes_stack_(tables.call_tree.size()),
      takes_scope_{named_scopes(tables.scope_names, options.scopes)} {
    const std::vector<bool> wanted = named_sites(paths, options.sites);
    const std::vector<bool> unwanted = named_sites(paths, options.without);
    const std::vector<bool> beneath = nodes_beneath(paths, options.functions);
    for (std::uint32_t stack = 0; stack < takes_stack_.size(); ++stack) {
        const std::uint32_t site = paths.site(stack);
        takes_stack_[stack] = (options.sites.empty() || wanted[site]) && !unwanted[site] &&
                              (options.functions.empty() || beneath[paths.node(stack)]);
    }
}

bool selection::takes(const event& allocation) const noexcept {
    return takes_stack_[allocation.stack] && (!options_.thread || allocation.thread == *options_.thread) &&
           allocation.size >= options_.min_bytes.value_or(0) &&
           allocation.size <= options_.max_bytes.value_or(~std::uint64_t{0});
}

}  // namespace acre::tool
