#include "made_types.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "dwarf_attribute.hpp"

namespace acre::tool {

namespace {

std::optional<Dwarf_Die> referred(Dwarf_Die of, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Die found;
    if (dwarf_formref_die(dwarf_attr_integrate(&of, name, &attribute), &found) == nullptr) return std::nullopt;
    return found;
}

std::optional<std::uint64_t> number_of(Dwarf_Die of, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr_integrate(&of, name, &attribute), &value) != 0) return std::nullopt;
    return value;
}

/// Calls `visit` for the children of an entry until it returns false.
template <typename Visit>
void for_each_child(Dwarf_Die parent, Visit&& visit) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) return;
    do {
        if (!visit(child)) return;
    } while (dwarf_siblingof(&child, &child) == 0);
}

/// A type without typedefs, const and volatile.
std::optional<Dwarf_Die> plain_type(std::optional<Dwarf_Die> type) {
    constexpr int deepest = 32;
    for (int i = 0; type && i < deepest; ++i) {
        const int tag = dwarf_tag(&*type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) return type;
        type = referred(*type, DW_AT_type);
    }
    return std::nullopt;
}

bool is_named_class(Dwarf_Die& type) {
    const int tag = dwarf_tag(&type);
    return (tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type) &&
           dwarf_diename(&type) != nullptr;
}

/// The class that the type of an entry points to.
std::optional<Dwarf_Die> pointed_class(Dwarf_Die entry) {
    std::optional<Dwarf_Die> pointer = plain_type(referred(entry, DW_AT_type));
    if (!pointer || dwarf_tag(&*pointer) != DW_TAG_pointer_type) return std::nullopt;
    std::optional<Dwarf_Die> type = plain_type(referred(*pointer, DW_AT_type));
    return type && is_named_class(*type) ? type : std::nullopt;
}

/// A pointer to a class with virtual functions may point to an object of a derived one.
bool has_virtual_functions(Dwarf_Die type) {
    bool found = false;
    for_each_child(type, [&](Dwarf_Die& member) {
        const char* name = dwarf_diename(&member);
        found = (name != nullptr && std::string_view{name}.starts_with("_vptr")) || number_of(member, DW_AT_virtuality);
        return !found;
    });
    return found;
}

/// The register or the base of the address that an object's address is computed from.
enum class address_source { unknown, returned_register, elsewhere };

/// Where the address comes from that an expression of the debug information computes.
address_source source_of(const Dwarf_Op& first) {
    switch (first.atom) {
        case DW_OP_reg0:  // rax
            return address_source::returned_register;
        // The stack, and variables.
        case DW_OP_fbreg:
        case DW_OP_reg7:
        case DW_OP_breg7:
        case DW_OP_addr:
        case DW_OP_addrx:
        case DW_OP_implicit_pointer:
        case DW_OP_GNU_implicit_pointer:
            return address_source::elsewhere;
        default:
            return address_source::unknown;
    }
}

/// Where `this` of an inlined constructor comes from at its begin.
address_source this_of_inlined(Dwarf_Die inlined, std::uint64_t begin) {
    address_source source = address_source::unknown;
    for_each_child(inlined, [&](Dwarf_Die& child) {
        Dwarf_Attribute attribute;
        if (dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
        if (dwarf_attr_integrate(&child, DW_AT_artificial, &attribute) == nullptr) return true;
        if (dwarf_attr(&child, DW_AT_location, &attribute) == nullptr) return false;
        Dwarf_Addr base = 0;
        Dwarf_Addr from = 0;
        Dwarf_Addr to = 0;
        Dwarf_Op* operations = nullptr;
        std::size_t count = 0;
        // An empty range counts as well: g++ writes it where the constructor has no instruction of its own.
        for (std::ptrdiff_t at = 0;
             (at = dwarf_getlocations(&attribute, at, &base, &from, &to, &operations, &count)) > 0;) {
            if (count == 0 || begin < from || begin > to) continue;
            source = source_of(operations[0]);
            break;
        }
        return false;
    });
    return source;
}

/// Where the first argument of a call comes from.
address_source this_of_call(Dwarf_Die call) {
    address_source source = address_source::unknown;
    for_each_child(call, [&](Dwarf_Die& child) {
        Dwarf_Attribute attribute;
        Dwarf_Op* operations = nullptr;
        std::size_t count = 0;
        const auto has_expression = [&](unsigned name) {
            return dwarf_attr(&child, name, &attribute) != nullptr &&
                   dwarf_getlocation(&attribute, &operations, &count) == 0 && count > 0;
        };
        if (!has_expression(DW_AT_location) || operations[0].atom != DW_OP_reg5) return true;  // rdi
        if (has_expression(DW_AT_call_value) || has_expression(DW_AT_GNU_call_site_value))
            source = source_of(operations[0]);
        return false;
    });
    return source;
}

/// A constructor of the `new` expression.
struct construction {
    std::uint64_t address;
    Dwarf_Die type;
};

/// What the function at the call does after it, without the functions that are inlined there.
class function_search {
public:
    function_search(Dwarf_Die scope, const call_of_new& call) : call_{call} {
        dwarf_diecu(&scope, &unit_, nullptr, nullptr);
        search(scope, 0);
    }

    std::optional<Dwarf_Die> made() const {
        if (const auto type = first_of(constructions_)) return type;
        return pointed_ ? pointed_ : first_of(likely_constructions_);
    }

private:
    static std::optional<Dwarf_Die> first_of(const std::vector<construction>& constructions) {
        const auto first = std::ranges::min_element(constructions, {}, &construction::address);
        return first != constructions.end() ? std::optional{first->type} : std::nullopt;
    }

    void search(Dwarf_Die parent, int depth) {
        constexpr int deepest = 64;
        if (depth == deepest) return;
        for_each_child(parent, [&](Dwarf_Die& child) {
            switch (dwarf_tag(&child)) {
                case DW_TAG_inlined_subroutine:
                    take_inlined(child);
                    break;
                case DW_TAG_call_site:
                    take_call(child, DW_AT_call_origin, address_of(child, DW_AT_call_return_pc));
                    break;
                case DW_TAG_GNU_call_site:
                    take_call(child, DW_AT_abstract_origin, address_of(child, DW_AT_low_pc));
                    break;
                case DW_TAG_variable:
                    take_variable(child);
                    break;
                case DW_TAG_lexical_block:
                    search(child, depth + 1);
                    break;
                default:
                    break;
            }
            return true;
        });
    }

    static std::optional<std::uint64_t> begin_of(Dwarf_Die inlined) {
        if (const auto entry = address_of(inlined, DW_AT_entry_pc)) return entry;
        Dwarf_Addr base = 0;
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        return dwarf_ranges(&inlined, 0, &base, &begin, &end) > 0 ? std::optional{begin} : std::nullopt;
    }

    void take_inlined(Dwarf_Die inlined) {
        const std::optional<std::uint64_t> begin = begin_of(inlined);
        const auto type = class_constructed(inlined, DW_AT_abstract_origin, begin);
        if (!type) return;
        const source_place place{number_of(inlined, DW_AT_call_line).value_or(0),
                                 number_of(inlined, DW_AT_call_column).value_or(0)};
        const address_source source = this_of_inlined(inlined, *begin);
        const bool gets_result = source == address_source::returned_register &&
                                 !call_.code->may_call(call_.address_in_file, in_file(*begin));
        take({*begin, *type}, place, source, gets_result);
    }

    void take_call(Dwarf_Die call, unsigned origin, std::optional<std::uint64_t> return_address) {
        const auto type = class_constructed(call, origin, return_address);
        if (!type) return;
        take({*return_address, *type}, place_of(unit_, *return_address - 1), this_of_call(call),
             call_.code->passes_result(call_.address_in_file, in_file(*return_address)));
    }

    /// The class, if it has the size that operator new is asked for.
    std::optional<Dwarf_Die> class_constructed(Dwarf_Die call, unsigned origin,
                                               std::optional<std::uint64_t> address) const {
        Dwarf_Attribute attribute;
        Dwarf_Die function;
        if (!address || *address < call_.return_address) return std::nullopt;
        if (dwarf_formref_die(dwarf_attr(&call, origin, &attribute), &function) == nullptr) return std::nullopt;
        const std::optional<Dwarf_Die> type = constructed_class(function);
        return type && has_size(*type, call_.size) ? type : std::nullopt;
    }

    void take(const construction& found, const source_place& place, address_source source, bool gets_result) {
        if (source == address_source::elsewhere) return;
        if (call_.is_constructed_at(place))
            constructions_.push_back(found);
        else if (gets_result && call_.may_be_constructed_at(place))
            likely_constructions_.push_back(found);
    }

    std::uint64_t in_file(std::uint64_t address) const {
        return address - call_.return_address + call_.address_in_file;
    }

    void take_variable(Dwarf_Die variable) {
        if (!call_.size || call_.place.line == 0 || number_of(variable, DW_AT_decl_line) != call_.place.line) return;
        const std::optional<Dwarf_Die> type = pointed_class(variable);
        if (type && has_size(*type, call_.size) && !has_virtual_functions(*type)) pointed_ = type;
    }

    const call_of_new& call_;
    Dwarf_Die unit_{};
    std::vector<construction> constructions_;         // at the place of the expression
    std::vector<construction> likely_constructions_;  // in its line, with the address that operator new returns
    std::optional<Dwarf_Die> pointed_;
};

bool is_by_clang(Dwarf_Die unit) {
    Dwarf_Attribute attribute;
    const char* producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
    return producer != nullptr && std::string_view{producer}.find("clang") != std::string_view::npos;
}

}  // namespace

bool is_operator_new(const char* symbol) {
    constexpr std::array names{"_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t",
                               "_ZnwmSt11align_val_tRKSt9nothrow_t"};
    return symbol != nullptr && std::ranges::any_of(names, [&](std::string_view each) { return each == symbol; });
}

std::optional<Dwarf_Die> constructed_class(Dwarf_Die function) {
    const char* name = dwarf_diename(&function);
    if (name == nullptr) return std::nullopt;
    std::optional<Dwarf_Die> made;
    const auto find_this = [&](Dwarf_Die in) {
        for_each_child(in, [&](Dwarf_Die& child) {
            if (dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
            if (dwarf_hasattr_integrate(&child, DW_AT_artificial) != 0) made = pointed_class(child);
            return false;  // `this` is the first
        });
    };
    Dwarf_Die declaration = function;
    for (const unsigned reference : {DW_AT_abstract_origin, DW_AT_specification}) {
        if (const auto next = referred(declaration, reference)) declaration = *next;
    }
    find_this(declaration);
    if (!made) return std::nullopt;
    std::string_view of = dwarf_diename(&*made);
    of = of.substr(0, of.find('<'));
    std::string_view called = name;
    return called.substr(0, called.find('<')) == of ? made : std::nullopt;
}

bool has_size(Dwarf_Die type, const std::optional<std::uint64_t>& size) {
    const std::optional<std::uint64_t> known = number_of(type, DW_AT_byte_size);
    return known && (!size || *known == *size);
}

source_place place_of(Dwarf_Die unit, std::uint64_t address) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
    int number = 0;
    int column = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return {};
    if (dwarf_linecol(line, &column) != 0 || column < 0) column = 0;
    return {static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(column)};
}

call_of_new::call_of_new(Dwarf_Die scope, const call_code& in, std::uint64_t returns_to,
                         std::uint64_t returns_to_in_file)
    : code{&in},
      return_address{returns_to},
      address_in_file{returns_to_in_file},
      size{in.first_argument(returns_to_in_file)} {
    Dwarf_Die unit{};
    dwarf_diecu(&scope, &unit, nullptr, nullptr);
    is_clang = is_by_clang(unit);
    place = place_of(unit, return_address - 1);
}

bool call_of_new::is_constructed_at(const source_place& constructor) const {
    if (place.column == 0 || constructor.line != place.line) return false;
    if (constructor.column == place.column) return true;  // clang: in a macro
    constexpr std::array<std::string_view, 4> before_type{"new ", "::new ", "new const ", "new (std::nothrow) "};
    return is_clang && std::ranges::any_of(before_type, [&](std::string_view each) {
               return constructor.column == place.column + each.size();
           });
}

bool call_of_new::may_be_constructed_at(const source_place& constructor) const {
    // clang gives no column to a call that it made of two.
    const bool is_merged = is_clang && place.column == 0;
    return !is_merged && place.line != 0 && constructor.line == place.line;
}

std::optional<Dwarf_Die> made_class(Dwarf_Die scope, const call_of_new& call) {
    if (const auto made = function_search{scope, call}.made()) return made;
    const std::optional<Dwarf_Die> returned = pointed_class(scope);
    const bool fits = call.size && returned && has_size(*returned, call.size) && !has_virtual_functions(*returned);
    return fits ? returned : std::nullopt;
}

}  // namespace acre::tool
