#include "advice_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "code_places.hpp"
#include "container_type.hpp"
#include "filled_text.hpp"
#include "malloc_callers.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t max_uses = 8;  // shown in one block of code; others by name

/// A way in which the program allocates what the advice is about.
struct use {
    const char* code_lines::* lines = nullptr;
    std::string type;  // of the object, or of the container as it is

    bool operator==(const use&) const = default;
};

constexpr const char* any_type = "T";
constexpr std::size_t max_files = 4;  // named; others are counted
constexpr const char* any_container = "std::vector<T>; likewise std::map, std::list, ...";

bool is_built_in(const std::string& type) {
    constexpr std::array words{"bool", "char", "short", "int", "long", "float", "double", "unsigned", "signed"};
    const std::string first = type.substr(0, type.find_first_of(" *"));
    return type.ends_with('*') || std::ranges::find(words, first) != words.end();
}

std::string type_or_any(const std::string& type) {
    return name_in_code(type).value_or(any_type);
}

/// A class template with an operator new is the base of the classes whose objects it allocates.
std::string type_of(const change_place& place) {
    return is_base_by_operator(place) ? any_type : type_or_any(place.name);
}

/// "a.cpp, b.cpp and 3 more files".
std::string files_text(const std::vector<std::string>& files) {
    const std::size_t shown = files.size() > max_files ? max_files : files.size() - 1;
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + files[i];
    return text + " and " +
           (files.size() > max_files ? plural(files.size() - shown, "more file", "more files") : files.back());
}

/// Where the declarations go.
std::string place_text(const std::vector<std::string>& files) {
    if (files.size() == 1) return fmt::format("// in {}, or in a header that it includes", files.front());
    return fmt::format("// in a header that {} include", files_text(files));
}

class code_writer {
public:
    code_writer(const advice& each, const call_paths& paths)
        : advice_{each},
          paths_{paths},
          code_{traits_of(each.candidate).code},
          resource_{fill(code_.resource)},
          owner_{owner_of_objects(each, paths)} {}

    std::string write() {
        find_uses();
        name_containers();
        std::string text = fill(code_.begin);
        for (const use& each : uses_) add(text, each);
        text += code_of_frames();
        if (!left_out_.empty()) text += fmt::format("// likewise for {}\n", fmt::join(left_out_, ", "));
        text += fill(code_.end);
        const bool needs_pointers = text.find("acre::make_") != std::string::npos;
        const bool needs_heap = advice_.candidate == verdict::general_heap;
        return header_text(files_to_share_among(advice_, paths_)) + "#include <acre/acre.hpp>\n" +
               (needs_pointers ? "#include <acre/adapt/smart_ptr.hpp>\n" : "") +
               (needs_heap ? "#include <acre/heaps/general_heap.hpp>\n" : "") + text;
    }

private:
    std::string fill(const char* text, const code_values& values = {}) const {
        return filled(text, advice_, paths_, values);
    }

    /// Containers come last, the inner before the outer: a container that others contain has an alias before these use
    /// it.
    void find_uses() {
        for (const change_place& each : advice_.places) {
            if (is_coroutine_frame(each)) {
                coroutines_.insert(each.name.substr(coroutine_frame.size()));
                continue;
            }
            const bool has_unique = each.by_make_unique && !is_of_one_type();
            if (each.all_by_new) continue;  // what the function makes is not known
            if (has_unique) add({&code_lines::unique, type_or_any(each.name)});
            if (!has_unique || each.by_new) add(use_of(each));
        }
        if (advice_.places.empty()) {
            add({&code_lines::object, any_type});
            add({&code_lines::plain, any_type});
            add({&code_lines::shared, any_type});
            add({&code_lines::container, any_container});
        } else if (uses_.empty() && containers_.empty() && coroutines_.empty()) {
            add({&code_lines::object, any_type});
        }
        std::ranges::sort(containers_, is_shorter, &use::type);
        uses_.insert(uses_.end(), containers_.begin(), containers_.end());
        if (is_of_one_type()) {
            uses_.resize(1);
            left_out_.clear();
        }
    }

    void add(const use& each) {
        std::vector<use>& to = each.lines == &code_lines::container ? containers_ : uses_;
        if (std::ranges::find(to, each) != to.end()) return;
        if (uses_.size() + containers_.size() < max_uses) {
            to.push_back(each);
        } else if (each.type != any_type && each.type != any_container) {
            left_out_.insert(each.type);
        }
    }

    static bool is_shorter(const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }

    /// Gives the containers that are shown, and that code can name, an alias each.
    void name_containers() {
        for (const use& each : containers_) {
            if (each.type == any_container || is_by_memory_resource(each.type)) continue;
            aliases_.push_back({each.type, variable(fill("{owner}_") + family_of(each.type))});
        }
    }

    static bool is_by_memory_resource(std::string_view type) {
        return takes_memory_resource(type) || is_memory_resource(type);
    }

    std::string code_of_frames() const {
        if (coroutines_.empty()) return {};
        return fmt::format(R"(// in the promise_type of {0}:
static void* operator new(std::size_t bytes) {{ return {1}.allocate(bytes); }}
static void operator delete(void* p, std::size_t bytes) noexcept {{ {1}.deallocate(p, bytes); }}
)",
                           fmt::join(coroutines_, ", "), fill(code_.variable));
    }

    /// The type of such a container stays.
    std::string code_by_memory_resource(const std::string& type) {
        const std::string from = fill(code_.variable);
        if (is_memory_resource(type)) {
            return fmt::format(
                "acre::pmr<{}&> {}{{{}}};  // in place of the {}, or as its upstream; an initial buffer of its own may "
                "do as well\n",
                resource_, variable("memory_resource"), from, type);
        }
        const std::string through = variable("container_memory");
        return fmt::format("acre::pmr<{}&> {}{{{}}};\n{} {}{{&{}}};\n", resource_, through, from, type,
                           variable("container"), through);
    }

    /// Of an object pool: its declaration has the type, too.
    bool is_of_one_type() const { return *code_.begin == '\0'; }

    use use_of(const change_place& place) const {
        if (is_of_one_type()) return {&code_lines::object, place.kind == place_kind::type ? type_of(place) : any_type};
        if (!place.shared.empty()) return {&code_lines::shared, type_or_any(place.shared)};
        switch (place.kind) {
            case place_kind::container: {
                const auto name = name_in_code(place.name);
                if (name && is_by_memory_resource(*name)) return {&code_lines::container, *name};
                const bool has_alias = name && with_allocator(*name, resource_, {}, owner_);
                return {&code_lines::container, has_alias ? *name : any_container};
            }
            case place_kind::type:
                return {&code_lines::object, type_of(place)};
            case place_kind::site:
                return {place.by_new ? &code_lines::object : &code_lines::plain, any_type};
            case place_kind::hook:
            case place_kind::library:
            case place_kind::several:
                break;
        }
        return {&code_lines::plain, any_type};
    }

    void add(std::string& text, const use& each) {
        const bool is_container = each.lines == &code_lines::container;
        if (is_container && is_by_memory_resource(each.type)) {
            text += code_by_memory_resource(each.type);
            return;
        }
        const auto alias = std::ranges::find(aliases_, each.type, &named_type::container);
        const bool has_alias = is_container && alias != aliases_.end();
        const std::string object = variable(is_container ? "container" : "object");
        const std::string hint = each.type == any_type ? "     // T: the type of {slot} bytes" : "";
        const code_values values{{"type", each.type},     {"container", has_alias ? alias->alias : allocating_vector()},
                                 {"object", object},      {"variable", fill(code_.variable)},
                                 {"resource", resource_}, {"type_hint", fill(hint.c_str())}};
        if (has_alias) {
            text += fmt::format("using {} = {};\n", alias->alias,
                                with_allocator(each.type, resource_, aliases_, owner_).value());
        }
        text += fill(code_.*each.lines, values);
        // A class may have no constructor without arguments, and then no arrays.
        const std::string array = each.lines == &code_lines::object ? fill(code_.array, values) : "";
        if (!array.empty()) text += (each.type == any_type || is_built_in(each.type) ? "" : "// ") + array;
    }

    std::string allocating_vector() const { return fmt::format("std::vector<T, acre::allocator<T, {}>>", resource_); }

    /// A name that no earlier line of this block has.
    std::string variable(const std::string& name) {
        std::string result = name;
        for (int i = 2; !variables_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
        return result;
    }

    const advice& advice_;
    const call_paths& paths_;
    const code_lines& code_;
    std::string resource_;
    std::string owner_;               // of the objects, where std::unique_ptr was
    std::vector<use> uses_;           // in the order of their lines
    std::vector<use> containers_;     // the last of them
    std::set<std::string> left_out_;  // the types for which there was no room
    std::vector<named_type> aliases_;
    std::set<std::string> variables_;
    std::set<std::string> coroutines_;
};

/// Puts a header behind the others.
void include(std::string& code, const std::string& header) {
    const std::size_t end = code.find('\n', code.rfind("#include")) + 1;
    code.insert(end, "#include <" + header + ">\n");
}

// What a thread has ends with it. Not where objects are never freed: another thread may use them.
constexpr const char* end_of_thread = R"(static tss_t {owner}_key;
static once_flag {owner}_key_made = ONCE_FLAG_INIT;
static void {owner}_end_thread(void* ended) {{ {type}_destroy(ended); }}
static void {owner}_make_key(void) {{ tss_create(&{owner}_key, {owner}_end_thread); }}
static {type}* {owner}_of_thread({type}* made) {{
    call_once(&{owner}_key_made, {owner}_make_key);
    tss_set({owner}_key, made);
    return made;
}}
)";

constexpr const char* c_strdup = R"({api}char* {owner}_strdup(const char* text) {{
    const size_t bytes = strlen(text) + 1;
    char* copy = {owner}_malloc(bytes);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}}
)";

/// The code for a C file, with functions for realloc and calloc only where the program calls these: others would be
/// unused.
std::string c_code_of(const advice& each, const call_paths& paths) {
    const verdict_traits& traits = traits_of(each.candidate);
    const bool is_shared = each.figures.threads > 1 && *traits.c_for_threads.code != '\0';
    const verdict_traits::c_lines& lines = is_shared ? traits.c_for_threads : traits.c;
    const std::string realloc = each.figures.reallocated ? filled(lines.realloc, each, paths) : "";
    const bool ends = each.figures.threads > 1 && *lines.of_thread != '\0' && each.figures.never_freed == 0;
    const code_values of_thread{{"of_thread", ends ? filled("{owner}_of_thread(", each, paths) : ""},
                                {"of_thread_end", ends ? ")" : ""},
                                {"type", lines.of_thread}};
    code_values values = of_thread;
    values.emplace_back("realloc", realloc);
    values.emplace_back("free", frees_others(each) ? filled(lines.free, each, paths) : "");
    values.emplace_back("end_of_thread", ends ? filled(end_of_thread, each, paths, of_thread) : "");
    std::string code = filled(lines.code, each, paths, values);
    if (each.figures.zeroed) code += filled(traits.c_calloc, each, paths);
    if (each.c_functions.contains("strdup") && code.find("_malloc(size_t") != std::string::npos)
        code += filled(c_strdup, each, paths);
    if (ends) include(code, "threads.h");
    if (code.find("SIZE_MAX") != std::string::npos) include(code, "stdint.h");
    if (code.find(" free(p);") != std::string::npos && code.find("<stdlib.h>") == std::string::npos)
        include(code, "stdlib.h");
    if (code.find("memcpy(") != std::string::npos || code.find("memset(") != std::string::npos)
        include(code, "string.h");
    return c_code_for(code, files_to_share_among(each, paths));
}

/// The code of classes whose objects come from a pool of each.
std::string code_of_classes(const std::vector<std::string>& names) {
    std::string code = "#include <acre/acre.hpp>\n#include <acre/adapt/pooled.hpp>\n";
    for (const std::string& each : names) {
        const std::string name = variable_name(each);
        code += fmt::format("ACRE_POOLED({0});  // as the last line of class {0}; new and delete stay\n", name);
    }
    return code;
}

}  // namespace

std::string owner_of_objects(const advice& each, const call_paths& paths) {
    const code_lines& code = traits_of(each.candidate).code;
    const auto makes = [&](bool change_place::* how) {
        return std::ranges::any_of(each.places,
                                   [&](const change_place& place) { return place.*how && !is_coroutine_frame(place); });
    };
    const bool by_unique = makes(&change_place::by_make_unique);
    if (*code.begin == '\0' || (!by_unique && !makes(&change_place::by_new))) return {};
    const std::string_view line = by_unique ? code.unique : code.object;
    if (line.find("make_unique<{type}>({variable}") == std::string_view::npos) return "{}*";
    return fmt::format("acre::unique_ptr<{{}}, {}>", filled(code.resource, each, paths));
}

std::string header_text(const std::vector<std::string>& files) {
    return files.empty() ? ""
                         : place_text(files) +
                               ": the lines with #include, using and inline, behind the declarations of "
                               "the types that these name\n";
}

std::string c_code_for(const std::string& code, const std::vector<std::string>& files) {
    std::string header;
    std::string source;
    std::istringstream lines{code};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(to_declare)) {
            line.erase(0, 1);
            header += line.substr(0, line.find(" {")) + ";\n";
            if (files.empty()) source += "static ";
        }
        if (files.empty() || line != "#include <acre.h>") source += line + "\n";
    }
    if (files.empty()) return source;
    const auto of_source = std::ranges::find_if_not(files, is_header);
    return fmt::format("{}:\n#include <acre.h>\n{}// in {}, behind its own #include lines:\n{}", place_text(files),
                       header, of_source == files.end() ? "one of the program's .c files" : *of_source, source);
}

std::vector<std::string> classes_named_in(const std::string& code, const call_paths& paths) {
    std::vector<std::string> named;
    std::string declarations;
    std::istringstream lines{code};
    for (std::string line; std::getline(lines, line);) {
        for (const char* begin : {"using ", "static ", "inline ", "thread_local "}) {
            if (line.starts_with(begin)) declarations += line + "\n";
        }
    }
    if (declarations.empty()) return named;
    for (const std::string& each : classes_in(paths)) {
        const std::size_t at = declarations.find(each + "::");
        if (at == std::string::npos) continue;
        const auto before = static_cast<unsigned char>(declarations[at - 1]);
        if (std::isalnum(before) == 0 && before != '_' && before != ':') named.push_back(each);
    }
    return named;
}

namespace {

/// What the names of all these functions begin with, as "yaml" of yaml_malloc and yaml_free; empty: no whole word.
std::string common_prefix(std::span<const malloc_caller> functions, const call_paths& paths) {
    if (functions.size() < 2) return {};
    std::string common = paths.functions()[functions.front().function].short_name;
    for (const malloc_caller& each : functions) {
        const std::string& name = paths.functions()[each.function].short_name;
        common.resize(static_cast<std::size_t>(std::ranges::mismatch(common, name).in1 - common.begin()));
    }
    const std::size_t end = common.rfind('_');
    return end == std::string::npos ? std::string{} : common.substr(0, end);
}

/// For a change of several functions a name that none of them has, else that of the advice's function.
std::string name_for(const advice& each, const call_paths& paths) {
    const std::string common = common_prefix(callers_to_name(each.malloc_callers), paths);
    return variable_name(common.empty() ? paths.functions()[each.function].short_name : common + "_heap");
}

}  // namespace

void name_variables(advice_list& list, const call_paths& paths) {
    std::set<std::string> taken;
    for (advice& each : list.advices) {
        const std::string name = name_for(each, paths);
        each.variable = name;
        for (int i = 2; !taken.insert(each.variable).second; ++i) each.variable = fmt::format("{}_{}", name, i);
    }
}

std::string code_of(const advice& each, const call_paths& paths) {
    if (each.candidate == verdict::leave) return {};
    const verdict_traits& traits = traits_of(each.candidate);
    if (traits.allocates_less) {
        const bool is_member = each.escape_depth != 0 && *traits.code.object != '\0';
        return filled(is_member ? traits.code.object : traits.code.begin, each, paths);
    }
    if (has_hook_of_acre(each.place)) return std::string{each.place.library->code};
    if (is_in_c(each, paths)) return c_code_of(each, paths);
    if (const auto classes = pooled_classes_of(each, paths); !classes.empty()) return code_of_classes(classes);
    return code_writer{each, paths}.write();
}

}  // namespace acre::tool
