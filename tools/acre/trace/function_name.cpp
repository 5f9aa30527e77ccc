#include "function_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace acre::tool {

namespace {

constexpr std::string_view operator_word = "operator";

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// True when `name`'s character at `at` begins the word `operator`.
bool begins_operator(std::string_view name, std::size_t at) {
    if (name.substr(at, operator_word.size()) != operator_word) return false;
    if (at > 0 && is_name_character(name[at - 1])) return false;
    const std::size_t end = at + operator_word.size();
    return end == name.size() || !is_name_character(name[end]);
}

/// Length of an operator's symbol: "<<", "()", "->". Template arguments may follow directly: "+<char>".
std::size_t operator_symbol_length(std::string_view rest) {
    constexpr std::array<std::string_view, 39> longest_first{
        "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->", "+",
        "-",   "*",   "/",   "%",   "^",  "&",  "|",  "~",  "!",  "=",  "<",  ">",  ","};
    const auto found = std::find_if(longest_first.begin(), longest_first.end(),
                                    [&](std::string_view symbol) { return rest.starts_with(symbol); });
    return found == longest_first.end() ? 0 : found->size();
}

/// Index of the bracket that closes the one at `open`, or the end.
std::size_t closing(std::string_view name, std::size_t open, char left, char right) {
    int depth = 0;
    for (std::size_t i = open; i < name.size(); ++i) {
        if (name[i] == left) ++depth;
        const bool arrow = right == '>' && i > 0 && name[i - 1] == '-';
        if (name[i] == right && !arrow && --depth == 0) return i;
    }
    return name.size();
}

/// Index after the qualifiers that follow a parameter list which ends at `at`.
std::size_t after_qualifiers(std::string_view name, std::size_t at) {
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"}) {
        if (name.substr(std::min(at, name.size())).starts_with(qualifier)) at += qualifier.size();
    }
    return std::min(at, name.size());
}

bool ends_with_digits_or(std::string_view name, std::string_view word) {
    while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) != 0 || name.back() == '_')) {
        name.remove_suffix(1);
    }
    return name.ends_with(word);
}

/// Length of text at `at` that only looks like a bracket: "operator<", "->", "()"; else 0.
std::size_t no_bracket_length(std::string_view name, std::size_t at) {
    if (begins_operator(name, at))
        return operator_word.size() + operator_symbol_length(name.substr(at + operator_word.size()));
    const std::string_view pair = name.substr(at, 2);
    return pair == "->" || pair == "()" ? 2 : 0;
}

/// Leaves out text in more than `max` nested brackets: "a<b<c>>::f(d<e>)" becomes "a<b<…>>::f(d<…>)" for 1.
std::string less_deep(std::string_view name, std::size_t max) {
    std::string shown;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (const std::size_t length = no_bracket_length(name, i); length != 0) {
            if (depth <= max) shown += name.substr(i, length);
            i += length - 1;
            continue;
        }
        const bool opens = name[i] == '<' || name[i] == '(';
        const bool closes = name[i] == '>' || name[i] == ')';
        if (opens) ++depth;
        if (depth <= max || (depth == max + 1 && (opens || closes))) shown += name[i];
        if (opens && depth == max + 1) shown += "…";
        if (closes && depth != 0) --depth;
    }
    return shown;
}

std::string lower_case(std::string_view text) {
    std::string lower{text};
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

bool is_named_like_malloc(std::string_view short_name) {
    constexpr std::array anywhere{"malloc", "calloc", "realloc", "memalign", "strdup", "strndup"};
    constexpr std::array whole{"alloc", "allocate", "_m_allocate", "mem_alloc", "xalloc", "zalloc", "memalloc"};
    const std::size_t last = short_name.rfind("::");
    const std::string lower = lower_case(last == std::string_view::npos ? short_name : short_name.substr(last + 2));
    return std::any_of(anywhere.begin(), anywhere.end(),
                       [&](const char* word) { return lower.find(word) != std::string::npos; }) ||
           std::any_of(whole.begin(), whole.end(), [&](const char* word) { return lower == word; }) ||
           ends_with_digits_or(lower, "mem_alloc");
}

/// The scopes in a name that could not be demangled, up to template arguments: "std::pair::pair" of
/// "_ZNSt4pairIKNSt...EC2IJ...". Empty if there are none.
std::string readable_part(std::string_view name) {
    const bool may_be_constructor =
        name.find("EC1") != std::string_view::npos || name.find("EC2") != std::string_view::npos;
    if (!name.starts_with("_Z")) return {};
    name.remove_prefix(2);
    if (name.starts_with('N')) name.remove_prefix(1);
    while (name.starts_with('K') || name.starts_with('V')) name.remove_prefix(1);
    std::string result;
    std::string last;
    if (name.starts_with("St")) {
        result = "std";
        name.remove_prefix(2);
    }
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
        std::size_t length = 0;
        for (; !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0; name.remove_prefix(1)) {
            length = length * 10 + static_cast<std::size_t>(name.front() - '0');
            if (length > name.size()) return {};
        }
        if (length == 0 || length > name.size()) return {};
        last = name.substr(0, length);
        name.remove_prefix(length);
        if (last.starts_with("_GLOBAL__N_") || last == "__cxx11") continue;
        result += (result.empty() ? "" : "::") + last;
    }
    if (last.empty()) return {};
    return name.starts_with('I') && may_be_constructor ? result + "::" + last : result;
}

}  // namespace

std::string short_name(std::string_view name) {
    if (std::string readable = readable_part(name); !readable.empty()) return readable;
    std::string result;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (begins_operator(name, i)) {
            // Conversion operators, new and delete keep their word; the rest their symbol.
            const std::size_t symbol = operator_symbol_length(name.substr(i + operator_word.size()));
            const std::size_t length = operator_word.size() + symbol;
            result += name.substr(i, length);
            i += length - 1;
            const bool spaced = i + 1 < name.size() && name[i + 1] == ' ';
            if (spaced && symbol != 0) {
                ++i;
            } else if (spaced) {
                const std::size_t end = std::min(name.find_first_of("(<", i), name.size());
                result += name.substr(i + 1, end - i - 1);
                i = end - 1;
            }
        } else if (name[i] == '<') {
            i = closing(name, i, '<', '>');
        } else if (name[i] == '{') {
            const std::size_t end = closing(name, i, '{', '}');
            result += name.substr(i, 7) == "{lambda" ? "{lambda}" : name.substr(i, end - i + 1);
            i = end;
        } else if (name.substr(i).starts_with("(anonymous namespace)")) {
            i += std::string_view{"(anonymous namespace)"}.size() - 1;
            if (name.substr(i + 1).starts_with("::")) i += 2;
        } else if (name[i] == '(') {
            i = closing(name, i, '(', ')');
            if (result.empty() || result == "decltype") continue;  // of a return type
            // A parameter list, after which only a local name can follow: "f(int) const::{lambda()#1}".
            const std::size_t after = after_qualifiers(name, i + 1);
            if (!name.substr(after).starts_with("::")) break;
            i = after - 1;
        } else if (name[i] == ' ') {
            result.clear();  // what came before was the return type
        } else {
            result += name[i];
        }
    }
    return result.empty() ? std::string{name} : result;
}

std::string shortened_name(std::string_view name, std::size_t letters) {
    std::string shown{name};
    for (std::size_t max = 6; max-- > 0 && shown.size() > letters;) shown = less_deep(name, max);
    if (shown.size() <= letters) return shown;
    return shown.substr(0, letters / 2) + " … " + shown.substr(shown.size() - letters / 2);
}

bool passes_memory_on(std::string_view demangled) {
    const std::string name = short_name(demangled);
    if (name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("operator new") ||
        name.starts_with("operator delete") || name == "_start") {
        return true;
    }
    // The functions of the library, but not those of this command.
    if (name.starts_with("acre::")) return !name.starts_with("acre::tool::");
    return is_named_like_malloc(name);
}

bool only_allocates(std::string_view demangled) {
    const std::string name = short_name(demangled);
    return passes_memory_on(demangled) && (name.starts_with("operator new") || is_named_like_malloc(name));
}

bool is_runtime_library(std::string_view path) {
    constexpr std::array names{"libc.so",  "libc-2.", "libc.musl", "libstdc++.so", "libc++.so",   "libc++abi.so",
                               "ld-linux", "ld-musl", "libm.so",   "libpthread",   "libgcc_s.so", "libacre-record"};
    const std::string_view file = path.substr(path.rfind('/') + 1);
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return file.starts_with(name); });
}

}  // namespace acre::tool
