#include "growth_wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "container_type.hpp"
#include "function_names.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

bool holds_characters(const advice& each) {
    return each.place.name == string_name;
}

/// Of a buffer of so many bytes; 0 where the size of an element is not known. A string has a zero behind its
/// characters.
std::uint64_t elements_in(std::uint64_t bytes, const advice& each, const growth_figures& of) {
    if (holds_characters(each)) return bytes - std::min<std::uint64_t>(bytes, 1);
    return of.element_bytes == 0 ? 0 : bytes / of.element_bytes;
}

/// "64.0 KiB (16,384 elements)".
std::string size_text(std::uint64_t bytes, const advice& each, const growth_figures& of) {
    const std::uint64_t elements = elements_in(bytes, each, of);
    return elements == 0 ? bytes_text(bytes)
                         : fmt::format("{} ({})", bytes_text(bytes), plural(elements, "element", "elements"));
}

std::string last_sizes_text(const advice& each, const growth_figures& of) {
    if (of.has_one_size()) return "always " + size_text(of.largest_bytes, each, of);
    return fmt::format("{} in the median, at most {} in 99 of 100, {} the largest",
                       size_text(of.median_bytes, each, of), size_text(of.p99_bytes, each, of),
                       size_text(of.largest_bytes, each, of));
}

std::string element_of(const advice& each) {
    constexpr std::string_view begin = "std::vector<";
    const std::string& name = each.place.name;
    if (!name.starts_with(begin) || !name.ends_with('>')) return "T";
    return name_in_code(name.substr(begin.size(), name.size() - begin.size() - 1)).value_or("T");
}

/// What to pass to reserve().
std::string elements_text(const advice& each, const growth_figures& of) {
    const std::uint64_t bytes = of.bytes_to_reserve();
    const std::uint64_t elements = elements_in(bytes, each, of);
    return elements != 0 ? std::to_string(elements) : fmt::format("{} / sizeof({})", bytes, element_of(each));
}

/// Whether these are parts of texts, for which a view would do.
bool is_by_substr(const advice& each, const call_paths& paths) {
    for (std::uint32_t node = paths.node(each.stack); node != paths.own_code(node); node = paths.nodes()[node].parent) {
        if (function_in(paths.functions()[paths.nodes()[node].function].name) == "substr") return true;
    }
    return false;
}

bool is_in_main(const advice& each, const call_paths& paths) {
    return paths.functions()[each.function].short_name == "main";
}

std::string line_text(const advice& each, const call_paths& paths) {
    const site_info& site = paths.sites()[each.site];
    if (site.file.empty()) return "a line without debug information";
    return fmt::format("{}:{}", file_name(site.file), site.line);
}

/// How to fill it where its constructor did.
const char* refilled_text(const advice& each) {
    return holds_characters(each) ? ": assign(text, from, count), +=" : ": push_back(), or assign(count, value)";
}

constexpr const char* view_code =
    "std::string_view{text}.substr(from, count)  // in place of text.substr(from, count): no copy, while text lives\n"
    "// or, where the text must be copied,\n";

}  // namespace

code_values growth_values(const advice& each, const call_paths& paths) {
    const growth_figures of = each.growth.value_or(growth_figures{});
    const bool in_main = is_in_main(each, paths);
    return {{"containers", plural(of.containers, "container", "containers")},
            {"replaced", plural(of.replaced, "buffer", "buffers")},
            {"copied", bytes_text(of.copied_bytes)},
            {"last_sizes", last_sizes_text(each, of)},
            {"largest", bytes_text(of.largest_bytes)},
            {"buffer_type", name_in_code(each.place.name).value_or("T")},
            {"buffer_line", line_text(each, paths)},
            {"elements", elements_text(each, of)},
            {"view", is_by_substr(each, paths) ? view_code : ""},
            {"kept_storage", in_main ? "" : "static thread_local "},
            {"kept_place",
             in_main ? "in front of the loop" : "or a member; or, in front of the loop, without static thread_local"},
            {"refilled", refilled_text(each)}};
}

}  // namespace acre::tool
