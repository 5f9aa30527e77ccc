#include "function_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace acre::tool {

namespace {

/// Reads a demangled name to the end of its last qualifier. Brackets are skipped with what they contain.
class name_reading {
public:
    explicit name_reading(std::string_view name) : name_{name} {
        for (at_ = 0; at_ < name.size() && step(); ++at_) {
        }
    }

    /// "std::vector<int>" of "void std::vector<int>::push_back(int)".
    std::string_view qualifier() const {
        return last_ == std::string_view::npos ? std::string_view{} : name_.substr(begin_, last_ - begin_);
    }
    /// "push_back" with its template arguments.
    std::string_view function() const {
        const std::size_t from = last_ == std::string_view::npos ? begin_ : last_ + 2;
        return name_.substr(from, at_ - from);
    }

private:
    /// False at the end of the function's name.
    bool step() {
        const char c = name_[at_];
        const std::string_view rest = name_.substr(at_);
        if (depth_ == 0 && rest.starts_with("operator")) {
            at_ = std::min(name_.find('(', at_ + 8 + (rest.starts_with("operator()") ? 2 : 0)), name_.size());
            return false;
        }
        if (rest.starts_with("(anonymous namespace)")) {
            at_ += std::string_view{"(anonymous namespace)"}.size() - 1;
            return true;
        }
        if (c == '(' && depth_ == 0) return false;
        const bool closes_template = c == '>' && !(at_ > 0 && name_[at_ - 1] == '-');
        if (c == '<' || c == '(' || c == '{') ++depth_;
        if ((closes_template || c == ')' || c == '}') && depth_ > 0) --depth_;
        if (depth_ != 0) return true;
        if (c == ' ') {
            begin_ = at_ + 1;
            last_ = std::string_view::npos;
        } else if (rest.starts_with("::")) {
            last_ = at_++;
        }
        return true;
    }

    std::string_view name_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;
    std::size_t last_ = std::string_view::npos;
    int depth_ = 0;
};

/// The first template argument of "make_unique<orc, int>".
std::string_view first_argument(std::string_view name) {
    const std::size_t open = name.find('<');
    if (open == std::string_view::npos) return {};
    int depth = 0;
    std::size_t end = open + 1;
    for (; end < name.size(); ++end) {
        const char c = name[end];
        if (depth == 0 && (c == ',' || c == '>')) break;
        if (c == '<' || c == '(') ++depth;
        if (c == '>' || c == ')') --depth;
    }
    std::string_view argument = name.substr(open + 1, end - open - 1);
    while (argument.ends_with(' ')) argument.remove_suffix(1);
    return argument;
}

/// Without ", std::allocator<...>" and the like, whose arguments are those of the container itself.
void erase_defaults(std::string& text, std::string_view begin) {
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        int depth = 1;
        std::size_t end = at + begin.size();
        for (; end < text.size() && depth > 0; ++end) depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
        while (end < text.size() && text[end] == ' ') ++end;
        text.erase(at, end - at);
    }
}

/// Writes "std::pmr::vector<int>" for "std::vector<int, std::pmr::polymorphic_allocator<int>>".
void name_pmr_containers(std::string& text) {
    constexpr std::string_view allocator = ", std::pmr::polymorphic_allocator<";
    for (std::size_t at = text.find(allocator); at != std::string::npos; at = text.find(allocator)) {
        std::size_t open = at;
        for (int depth = 0; open > 0; --open) {
            const char c = text[open - 1];
            if (c == '<' && depth == 0) break;
            depth += c == '>' ? 1 : c == '<' ? -1 : 0;
        }
        const std::size_t begin = open == 0 ? 0 : text.find_last_of(" ,<(", open - 2) + 1;
        std::size_t end = at + allocator.size();
        for (int depth = 1; end < text.size() && depth > 0; ++end)
            depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
        while (end < text.size() && text[end] == ' ') ++end;
        text.erase(at, end - at);
        if (text.compare(begin, 5, "std::") == 0) text.insert(begin + 5, "pmr::");
    }
}

struct family_member {
    std::string_view name;
    std::string_view family;
};
constexpr std::array families{family_member{"vector", "vector"},
                              family_member{"_Vector_base", "vector"},
                              family_member{"_Bvector_base", "vector"},
                              family_member{"basic_string", "string"},
                              family_member{"deque", "deque"},
                              family_member{"_Deque_base", "deque"},
                              family_member{"list", "list"},
                              family_member{"_List_base", "list"},
                              family_member{"forward_list", "forward_list"},
                              family_member{"_Fwd_list_base", "forward_list"},
                              family_member{"map", "tree"},
                              family_member{"multimap", "tree"},
                              family_member{"set", "tree"},
                              family_member{"multiset", "tree"},
                              family_member{"_Rb_tree", "tree"},
                              family_member{"__tree", "tree"},
                              family_member{"unordered_map", "hash"},
                              family_member{"unordered_multimap", "hash"},
                              family_member{"unordered_set", "hash"},
                              family_member{"unordered_multiset", "hash"},
                              family_member{"_Hashtable", "hash"},
                              family_member{"_Hashtable_alloc", "hash"},
                              family_member{"_Map_base", "hash"},
                              family_member{"_Insert_base", "hash"},
                              family_member{"_Insert", "hash"},
                              family_member{"__hash_table", "hash"}};

/// They allocate from another memory resource for the containers that use them.
constexpr std::array<std::string_view, 3> standard_resources{"std::pmr::monotonic_buffer_resource",
                                                             "std::pmr::unsynchronized_pool_resource",
                                                             "std::pmr::synchronized_pool_resource"};

}  // namespace

std::string_view without_arguments(std::string_view name) {
    return name.substr(0, name.find('<'));
}

std::string_view last_part(std::string_view name) {
    const std::size_t colons = without_arguments(name).rfind("::");
    return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// As a person writes it.
std::string written(std::string_view name) {
    std::string text{name};
    for (const std::string_view inner : {"__cxx11::", "std::__1::"}) {
        for (std::size_t at = text.find(inner); at != std::string::npos; at = text.find(inner, at))
            text.replace(at, inner.size(), inner == "std::__1::" ? "std::" : "");
    }
    for (const std::string_view each : {", std::allocator<", ", std::less<", ", std::hash<", ", std::equal_to<",
                                        ", std::char_traits<", ", std::default_delete<"})
        erase_defaults(text, each);
    name_pmr_containers(text);
    for (std::size_t at = text.find(" >"); at != std::string::npos; at = text.find(" >")) text.erase(at, 1);
    for (const std::string_view plain : {"basic_string<char>", "pmr::basic_string<char>"}) {
        const std::string full = "std::" + std::string{plain};
        for (std::size_t at = text.find(full); at != std::string::npos; at = text.find(full))
            text.replace(at, full.size(), plain.starts_with("pmr") ? "std::pmr::string" : "std::string");
    }
    return text;
}

std::string_view class_in(std::string_view function) {
    return name_reading{function}.qualifier();
}

std::string_view function_in(std::string_view function) {
    return name_reading{function}.function();
}

std::optional<named_container> container_in(std::string_view function) {
    std::string_view of = class_in(function);
    if (!of.starts_with("std::")) return std::nullopt;
    // With the string of before C++11, which is copied on writing.
    if (of.ends_with("::_Rep")) of.remove_suffix(std::string_view{"::_Rep"}.size());
    if (of == "std::string") return named_container{"string", "std::string"};
    if (std::ranges::find(standard_resources, of) != standard_resources.end())
        return named_container{"resource", std::string{of}};
    const std::string_view base = last_part(of);
    const auto found = std::ranges::find(families, without_arguments(base), &family_member::name);
    if (found == families.end() || base.find('<') == std::string_view::npos) return std::nullopt;
    return named_container{found->family, written(of)};
}

std::string_view type_made_in(std::string_view function) {
    const name_reading read{function};
    const std::string_view name = read.function();
    if (read.qualifier() == "std") {
        for (const std::string_view maker : {"make_unique", "make_unique_for_overwrite"}) {
            if (without_arguments(name) == maker && !first_argument(name).ends_with(']')) return first_argument(name);
        }
        return {};
    }
    // As the recorder calls a `new` expression whose type the debug information tells.
    if (read.qualifier().empty() && name.starts_with("operator new<")) return first_argument(name);
    return name == "operator new" ? read.qualifier() : std::string_view{};
}

bool is_make_unique(std::string_view function) {
    return name_reading{function}.qualifier() == "std" && !type_made_in(function).empty();
}

std::string_view type_shared_in(std::string_view function) {
    const name_reading read{function};
    const std::string_view made = first_argument(read.function());
    const bool is_maker = read.qualifier() == "std" && without_arguments(read.function()) == "make_shared";
    return is_maker && !made.ends_with(']') ? made : std::string_view{};
}

std::set<std::string, std::less<>> classes_in(const call_paths& paths) {
    std::set<std::string, std::less<>> classes;
    for (const function_info& each : paths.functions()) {
        const name_reading read{each.name};
        std::string_view name = without_arguments(read.function());
        if (name.starts_with('~')) name.remove_prefix(1);
        const std::string_view of = read.qualifier();
        if (!of.empty() && !of.starts_with("std::") && name == without_arguments(last_part(of))) classes.emplace(of);
    }
    return classes;
}

}  // namespace acre::tool
