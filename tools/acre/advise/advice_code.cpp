#include "advice_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "container_type.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t most_uses = 6;  // shown in one block of code

/// A way in which the program allocates what the advice is about.
struct use {
    const char* code_lines::* lines = nullptr;
    std::string type;       // of the object, or of the container as it is
    std::string container;  // the same with acre's allocator

    bool operator==(const use&) const = default;
};

constexpr const char* any_type = "T";

std::string type_or_any(const std::string& type) {
    return name_in_code(type).value_or(any_type);
}

class code_writer {
public:
    code_writer(const advice& each, const call_paths& paths)
        : advice_{each}, paths_{paths}, code_{traits_of(each.candidate).code}, resource_{fill(code_.resource)} {
        name_containers();
    }

    std::string write() {
        const std::vector<use> uses = uses_of_places();
        std::string text = fill(code_.begin);
        for (const use& each : uses) add(text, each);
        text += fill(code_.end);
        const bool needs_pointers = text.find("acre::make_") != std::string::npos;
        return std::string{"#include <acre/acre.hpp>\n"} +
               (needs_pointers ? "#include <acre/adapt/smart_ptr.hpp>\n" : "") + text;
    }

private:
    std::string fill(const char* text, const code_values& values = {}) const {
        return filled(text, advice_, paths_, values);
    }

    std::vector<use> uses_of_places() const {
        std::vector<use> uses;
        std::vector<use> containers;
        const auto add = [&](const use& each) {
            std::vector<use>& to = each.lines == &code_lines::container ? containers : uses;
            const bool has_room = uses.size() + containers.size() < most_uses;
            if (has_room && std::ranges::find(to, each) == to.end()) to.push_back(each);
        };
        for (const change_place& each : advice_.places) add(use_of(each));
        if (advice_.places.empty()) {
            add(of_any(&code_lines::object));
            add(of_any(&code_lines::plain));
            add(of_any(&code_lines::shared));
            add(any_container());
        }
        // A container that others contain has an alias before these use it.
        std::ranges::sort(containers, is_shorter, &use::type);
        uses.insert(uses.end(), containers.begin(), containers.end());
        if (is_of_one_type()) uses.resize(1);
        return uses;
    }

    static bool is_shorter(const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }

    /// Aliases for the containers that are shown and that code can name, the inner before the outer.
    void name_containers() {
        std::vector<std::string> containers;
        for (const change_place& each : advice_.places) {
            const auto name = each.kind == place_kind::container ? name_in_code(each.name) : std::nullopt;
            if (name && containers.size() < most_uses) containers.push_back(*name);
        }
        std::ranges::sort(containers, is_shorter);
        for (const std::string& each : containers) {
            const auto is_known = std::ranges::find(aliases_, each, &named_type::container) != aliases_.end();
            if (is_known || !with_allocator(each, resource_, {})) continue;
            aliases_.push_back({each, variable(fill("{owner}_") + family_of(each))});
        }
    }

    /// Of an object pool: its declaration has the type, too.
    bool is_of_one_type() const { return *code_.begin == '\0'; }

    use use_of(const change_place& place) const {
        if (is_of_one_type())
            return {&code_lines::object, place.kind == place_kind::type ? type_or_any(place.name) : any_type, {}};
        if (!place.shared.empty()) return {&code_lines::shared, type_or_any(place.shared), {}};
        switch (place.kind) {
            case place_kind::container: {
                const auto name = name_in_code(place.name);
                const auto found = std::ranges::find(aliases_, name, &named_type::container);
                return found == aliases_.end() ? any_container() : use{&code_lines::container, *name, found->alias};
            }
            case place_kind::type:
                return {&code_lines::object, type_or_any(place.name), {}};
            case place_kind::site:
                return of_any(place.by_new ? &code_lines::object : &code_lines::plain);
            case place_kind::hook:
            case place_kind::several:
                break;
        }
        return of_any(&code_lines::plain);
    }

    static use of_any(const char* code_lines::* lines) { return {lines, any_type, {}}; }

    use any_container() const {
        return {&code_lines::container, "std::vector<T>; likewise std::map, std::list, ...",
                fmt::format("std::vector<T, acre::allocator<T, {}>>", resource_)};
    }

    void add(std::string& text, const use& each) {
        const bool is_container = each.lines == &code_lines::container;
        const std::string object = variable(is_container ? "container" : "object");
        const std::string hint = each.type == any_type ? "     // T: the type of {slot} bytes" : "";
        const code_values values{{"type", each.type},
                                 {"container", each.container},
                                 {"object", object},
                                 {"variable", fill(code_.variable)},
                                 {"type_hint", fill(hint.c_str())}};
        if (is_container) text += alias_of(each);
        text += fill(code_.*each.lines, values);
        if (each.lines == &code_lines::object) text += fill(code_.array, values);
    }

    /// Declares the alias of a container; nothing for one of any type.
    std::string alias_of(const use& container) const {
        if (std::ranges::find(aliases_, container.container, &named_type::alias) == aliases_.end()) return {};
        return fmt::format("using {} = {};\n", container.container,
                           with_allocator(container.type, resource_, aliases_).value());
    }

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
    std::vector<named_type> aliases_;
    std::set<std::string> variables_;
};

/// The code of classes whose objects come from a pool of each.
std::string code_of_classes(const std::vector<std::string>& names) {
    std::string code = "#include <acre/acre.hpp>\n#include <acre/adapt/pooled.hpp>\n";
    for (const std::string& each : names) {
        const std::string name = variable_name(each);
        code += fmt::format(
            "struct {0} : acre::pooled<{0}> {{}};  // the class as it is, with this base; new and delete stay\n", name);
    }
    return code;
}

}  // namespace

bool is_in_c(const advice& each, const call_paths& paths) {
    return paths.sites()[each.site].file.ends_with(".c");
}

std::vector<std::string> pooled_classes_of(const advice& each, const call_paths& paths) {
    if (is_in_c(each, paths)) return {};
    return may_be_pooled_class(each) ? std::vector{each.place.name} : each.classes;
}

std::string variable_name(const std::string& function) {
    const std::size_t last = function.rfind("::");
    std::string name = last == std::string::npos ? function : function.substr(last + 2);
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    const bool usable = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                        name.find_first_not_of('_') != std::string::npos && name.find("operator") != 0;
    return usable ? name : "site";
}

void name_variables(advice_list& list, const call_paths& paths) {
    std::set<std::string> taken;
    for (advice& each : list.advices) {
        const std::string name = variable_name(paths.functions()[each.function].short_name);
        each.variable = name;
        for (int i = 2; !taken.insert(each.variable).second; ++i) each.variable = fmt::format("{}_{}", name, i);
    }
}

std::string code_of(const advice& each, const call_paths& paths) {
    if (each.candidate == verdict::leave) return {};
    if (is_in_c(each, paths)) return filled(traits_of(each.candidate).c_code, each, paths);
    if (const auto classes = pooled_classes_of(each, paths); !classes.empty()) return code_of_classes(classes);
    return code_writer{each, paths}.write();
}

}  // namespace acre::tool
