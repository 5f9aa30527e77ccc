#include "function_names.hpp"

#include <cxxabi.h>
#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace acre::tool {

namespace {

/// An attribute of a function, of its declaration or of its abstract instance.
const char* attribute_text(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute));
}

const char* linkage_name(Dwarf_Die& function) {
    const char* name = attribute_text(function, DW_AT_linkage_name);
    return name != nullptr ? name : attribute_text(function, DW_AT_MIPS_linkage_name);
}

/// The entry in the function's own scope: the definition of a member function lies outside its class.
Dwarf_Die declaration_of(Dwarf_Die function) {
    Dwarf_Attribute attribute;
    Dwarf_Die named;
    for (const unsigned reference : {DW_AT_abstract_origin, DW_AT_specification}) {
        if (dwarf_formref_die(dwarf_attr(&function, reference, &attribute), &named) != nullptr) function = named;
    }
    return function;
}

/// C has no named scopes.
bool is_c(Dwarf_Die& entry) {
    Dwarf_Die unit;
    if (dwarf_diecu(&entry, &unit, nullptr, nullptr) == nullptr) return true;
    const int language = dwarf_srclang(&unit);
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

/// The entries that contain an entry, outermost (the unit) first. Children lie between their parent and its next
/// sibling.
std::vector<Dwarf_Die> entries_around(Dwarf_Die& entry) {
    const Dwarf_Off wanted = dwarf_dieoffset(&entry);
    std::vector<Dwarf_Die> around(1);
    if (dwarf_diecu(&entry, around.data(), nullptr, nullptr) == nullptr) return {};
    Dwarf_Die child;
    while (dwarf_child(&around.back(), &child) == 0) {
        Dwarf_Die next;
        while (dwarf_siblingof(&child, &next) == 0 && dwarf_dieoffset(&next) <= wanted) child = next;
        if (dwarf_dieoffset(&child) >= wanted) break;
        around.push_back(child);
    }
    return around;
}

bool is_class(Dwarf_Die& entry) {
    const int tag = dwarf_tag(&entry);
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/// The class of a lambda has no name, or one that begins with "<lambda".
bool has_name(Dwarf_Die& entry) {
    const char* name = dwarf_diename(&entry);
    return name != nullptr && !std::string_view{name}.starts_with("<lambda");
}

/// Number of unnamed classes in a scope and its blocks, up to an entry.
unsigned unnamed_classes(Dwarf_Die& scope, Dwarf_Off last) {
    unsigned count = 0;
    Dwarf_Die child;
    if (dwarf_child(&scope, &child) != 0) return count;
    do {
        if (dwarf_dieoffset(&child) > last) break;
        if (is_class(child) && !has_name(child)) ++count;
        if (dwarf_tag(&child) == DW_TAG_lexical_block) count += unnamed_classes(child, last);
    } while (dwarf_siblingof(&child, &child) == 0);
    return count;
}

}  // namespace

std::string demangled(const char* name) {
    if (name == nullptr) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain{abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                            &std::free};
    return status == 0 && plain ? plain.get() : name;
}

std::string function_names::of(Dwarf_Die& function) {
    if (const char* linkage = linkage_name(function)) return demangled(linkage);
    Dwarf_Die declaration = declaration_of(function);
    const char* name = dwarf_diename(&declaration);
    if (name == nullptr) return {};
    if (is_c(declaration)) return name;
    if (const auto known = known_.find(declaration.addr); known != known_.end()) return known->second;
    return known_[declaration.addr] = scope_of(declaration) + name;
}

std::string function_names::of_type(Dwarf_Die& type) {
    const auto known = known_.find(type.addr);
    if (known != known_.end()) return known->second;
    const char* name = dwarf_diename(&type);
    return known_[type.addr] = scope_of(type) + (name != nullptr ? name : "");
}

std::string function_names::scope_of(Dwarf_Die& entry) {
    std::vector<Dwarf_Die> around = entries_around(entry);
    std::string scope;
    std::size_t named = 0;  // index of the innermost entry that contributes to the name
    for (std::size_t i = 1; i < around.size(); ++i) {
        Dwarf_Die& each = around[i];
        if (dwarf_tag(&each) == DW_TAG_subprogram) {
            scope = of(each) + "::";
        } else if (dwarf_tag(&each) == DW_TAG_namespace) {
            scope += std::string{has_name(each) ? dwarf_diename(&each) : "(anonymous namespace)"} + "::";
        } else if (is_class(each) && has_name(each)) {
            scope += std::string{dwarf_diename(&each)} + "::";
        } else if (is_class(each)) {
            scope += "{lambda#" + std::to_string(unnamed_classes(around[named], dwarf_dieoffset(&each))) + "}::";
        } else {
            continue;
        }
        named = i;
    }
    return scope;
}

}  // namespace acre::tool
