#include "container_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace acre::tool {

namespace {

/// How a container's own arguments go on to its allocator.
enum class shape : std::uint8_t { string, sequence, set, map, hash_set, hash_map };

struct known_template {
    std::string_view name;  // of debug information and symbols
    shape of;
    std::string_view written;  // as code says it
};
constexpr known_template known_templates[] = {
    {"std::basic_string", shape::string, "std::basic_string"},
    {"std::vector", shape::sequence, "std::vector"},
    {"std::_Vector_base", shape::sequence, "std::vector"},
    {"std::_Bvector_base", shape::sequence, "std::vector"},
    {"std::deque", shape::sequence, "std::deque"},
    {"std::_Deque_base", shape::sequence, "std::deque"},
    {"std::list", shape::sequence, "std::list"},
    {"std::_List_base", shape::sequence, "std::list"},
    {"std::forward_list", shape::sequence, "std::forward_list"},
    {"std::_Fwd_list_base", shape::sequence, "std::forward_list"},
    {"std::set", shape::set, "std::set"},
    {"std::multiset", shape::set, "std::multiset"},
    {"std::map", shape::map, "std::map"},
    {"std::multimap", shape::map, "std::multimap"},
    {"std::unordered_set", shape::hash_set, "std::unordered_set"},
    {"std::unordered_multiset", shape::hash_set, "std::unordered_multiset"},
    {"std::unordered_map", shape::hash_map, "std::unordered_map"},
    {"std::unordered_multimap", shape::hash_map, "std::unordered_multimap"},
};

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

/// A template's name and arguments. Of "std::vector<int>::iterator" nothing: what follows the arguments is not known.
struct split_name {
    std::string_view of;
    std::vector<std::string_view> arguments;
};

std::optional<split_name> split(std::string_view name) {
    const std::size_t open = name.find('<');
    if (open == std::string_view::npos || !name.ends_with('>')) return std::nullopt;
    split_name result{name.substr(0, open), {}};
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = begin; at < name.size(); ++at) {
        const char c = name[at];
        const bool ends = depth == 0 && (c == ',' || c == '>');
        if (ends) result.arguments.push_back(trimmed(name.substr(begin, at - begin)));
        if (ends && c == '>') return at + 1 == name.size() ? std::optional{result} : std::nullopt;
        if (ends) begin = at + 1;
        if (c == '<' || c == '(' || c == '[') ++depth;
        if (c == '>' || c == ')' || c == ']') --depth;
    }
    return std::nullopt;
}

const known_template* find_known(std::string_view name) {
    const auto* const found = std::ranges::find(known_templates, name, &known_template::name);
    return found == std::end(known_templates) ? nullptr : found;
}

/// Whether a type is a std::unique_ptr to one object, without a deleter of its own.
bool deletes(const split_name& type) {
    const auto& arguments = type.arguments;
    return type.of == "std::unique_ptr" && !arguments.front().ends_with(']') &&
           (arguments.size() == 1 || arguments[1].starts_with("std::default_delete<"));
}

/// Writes types in which the containers in question have another allocator.
class rewriting {
public:
    rewriting(std::string_view resource, std::span<const named_type> aliases, std::string_view owner)
        : resource_{resource}, aliases_{aliases}, owner_{owner} {}

    std::optional<std::string> container(std::string_view name) const {
        if (name == "std::string") name = "std::basic_string<char>";
        const std::optional<split_name> parts = split(name);
        const known_template* const of = parts ? find_known(parts->of) : nullptr;
        if (of == nullptr) return std::nullopt;
        std::vector<std::string> arguments;
        for (const std::string_view each : parts->arguments) arguments.push_back(argument(each));
        return with_shape(*of, arguments);
    }

private:
    /// An argument as it is, but with the aliases in it.
    std::string argument(std::string_view name) const {
        const auto found = std::ranges::find(aliases_, name, &named_type::container);
        if (found != aliases_.end()) return found->alias;
        const std::optional<split_name> parts = split(name);
        if (!parts) return std::string{name};
        std::vector<std::string> arguments;
        for (const std::string_view each : parts->arguments) arguments.push_back(argument(each));
        if (!owner_.empty() && deletes(*parts)) return fmt::format(fmt::runtime(owner_), arguments.front());
        return fmt::format("{}<{}>", parts->of, fmt::join(arguments, ", "));
    }

    /// Defaults stand before the allocator. More arguments than these: a comparison or a hash that the program chose
    /// comes first; an allocator of its own is none of ours.
    std::optional<std::string> with_shape(const known_template& of, const std::vector<std::string>& given) const {
        const bool is_map = of.of == shape::map || of.of == shape::hash_map;
        const std::size_t values = is_map ? 2 : 1;
        const bool is_ordered = of.of == shape::map || of.of == shape::set;
        if (given.size() < values || given.size() > values + (is_ordered ? 1 : 0)) return std::nullopt;
        const std::string& key = given.front();
        std::vector<std::string> all(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(values));
        if (of.of == shape::string) all.push_back(fmt::format("std::char_traits<{}>", key));
        if (is_ordered) all.push_back(given.size() > values ? given.back() : fmt::format("std::less<{}>", key));
        if (of.of == shape::hash_set || of.of == shape::hash_map) {
            all.push_back(fmt::format("std::hash<{}>", key));
            all.push_back(fmt::format("std::equal_to<{}>", key));
        }
        const std::string element = is_map ? fmt::format("std::pair<{} const, {}>", key, given[1]) : key;
        all.push_back(fmt::format("acre::allocator<{}, {}>", element, resource_));
        return fmt::format("{}<{}>", of.written, fmt::join(all, ", "));
    }

    std::string_view resource_;
    std::span<const named_type> aliases_;
    std::string_view owner_;
};

}  // namespace

std::optional<std::string> name_in_code(std::string_view type) {
    std::string text{type};
    constexpr std::string_view here = "(anonymous namespace)::";
    for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here)) text.erase(at, here.size());
    const bool is_of_function = text.find(")::") != std::string::npos;
    const bool is_writable = !text.empty() && !is_of_function && text.find_first_of("{}'`@?\n") == std::string::npos;
    return is_writable && text.find("unnamed") == std::string::npos ? std::optional{text} : std::nullopt;
}

std::optional<std::string> with_allocator(std::string_view container, std::string_view resource,
                                          std::span<const named_type> aliases, std::string_view owner) {
    const std::optional<std::string> name = name_in_code(container);
    return name ? rewriting{resource, aliases, owner}.container(*name) : std::nullopt;
}

bool takes_memory_resource(std::string_view container) {
    return container.starts_with("std::pmr::") && !is_memory_resource(container);
}

bool is_memory_resource(std::string_view container) {
    return container.starts_with("std::pmr::") && container.ends_with("_resource");
}

bool has_unique_ptr(std::string_view type) {
    const std::optional<split_name> parts = split(type);
    return parts && (deletes(*parts) || std::ranges::any_of(parts->arguments, has_unique_ptr));
}

std::string family_of(std::string_view container) {
    const known_template* const of = find_known(container.substr(0, container.find('<')));
    const std::string_view name = of != nullptr ? of->written : std::string_view{"std::string"};
    return name == "std::basic_string" ? "string" : std::string{name.substr(std::string_view{"std::"}.size())};
}

}  // namespace acre::tool
