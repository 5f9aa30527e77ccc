#include "code_places.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "malloc_callers.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

/// The names of files; of those with the same name, the paths.
std::vector<std::string> without_folders(const std::vector<std::string>& files) {
    std::vector<std::string> names;
    for (const std::string& file : files) {
        const auto has_its_name = [&](const std::string& other) { return file_name(other) == file_name(file); };
        names.push_back(std::ranges::count_if(files, has_its_name) == 1 ? file_name(file) : file);
    }
    return names;
}

}  // namespace

bool is_header(const std::string& file) {
    const std::string name = file_name(file);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return true;
    constexpr std::array extensions{"h",   "hh",  "hpp", "hxx", "h++", "H",   "cuh",
                                    "inc", "inl", "ipp", "tcc", "tpp", "txx", "def"};
    return std::ranges::find(extensions, name.substr(dot + 1)) != extensions.end();
}

bool frees_others(const advice& each) {
    return std::ranges::any_of(each.freed_at, [](const line_of_frees& line) { return line.others != 0; });
}

bool is_in_c(const site_info& site, const call_paths& paths) {
    if (site.file.empty() || !is_header(site.file)) return site.file.ends_with(".c");
    // A header is of the file that includes it, which calls its function, or has it inlined.
    bool has_met_site = false;
    for (std::uint32_t stack = site.stack; stack != no_stack; stack = paths.caller_of(stack)) {
        for (const source_location& at : paths.frame(paths.frame_of(stack)).locations) {
            has_met_site = has_met_site || at.file == site.file;
            if (has_met_site && !at.file.empty() && !is_header(at.file)) return at.file.ends_with(".c");
        }
    }
    return false;
}

bool is_in_c(const advice& each, const call_paths& paths) {
    return is_in_c(paths.sites()[each.site], paths);
}

std::vector<std::string> pooled_classes_of(const advice& each, const call_paths& paths) {
    if (is_in_c(each, paths)) return {};
    return may_be_pooled_class(each) ? std::vector{each.place.name} : each.classes;
}

std::vector<std::string> files_to_share_among(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& each : paths) {
        if (!each.empty() && std::ranges::find(files, each) == files.end()) files.push_back(each);
    }
    if (files.size() <= 1 && std::ranges::none_of(files, is_header)) return {};
    return without_folders(files);
}

std::vector<std::string> files_to_share_among(const advice& each, const call_paths& paths) {
    if (each.candidate == verdict::leave || each.candidate == verdict::stack_buffer) return {};
    std::vector<std::string> files;
    const auto add = [&](std::uint32_t site) { files.push_back(paths.sites()[site].file); };
    for (const malloc_caller& of : direct_callers(each.malloc_callers)) files.push_back(of.at.file);
    // What only pointers are set to is for the file that sets them.
    if (!each.malloc_callers.empty()) return files_to_share_among(files);
    const verdict_traits& traits = traits_of(each.candidate);
    // What goes through a hook is served behind it, but for an arena: that serves these callers of it alone.
    if (each.place.kind == place_kind::hook && !traits.freed_as_whole) {
        files.push_back(paths.place_in(each.stack, each.place.function).file);
    } else {
        add(each.site);
        for (const site_objects& of : each.sites) add(of.site);
    }
    if (each.of_scope || traits.in_owner) files.push_back(paths.place_in(each.stack, each.function).file);
    if (!traits.freed_as_whole || frees_others(each)) {
        for (const line_of_frees& line : each.freed_at) add(line.site);
    }
    return files_to_share_among(files);
}

std::string variable_name(const std::string& function) {
    // A lambda has no name of its own.
    if (const std::size_t lambda = function.find("::{lambda"); lambda != std::string::npos)
        return variable_name(function.substr(0, lambda));
    const std::size_t last = function.rfind("::");
    std::string name = last == std::string::npos ? function : function.substr(last + 2);
    name.resize(std::min(name.find("[abi:"), name.size()));
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    const bool usable = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                        name.find_first_not_of('_') != std::string::npos && name.find("operator") != 0;
    return usable ? name : "site";
}

}  // namespace acre::tool
