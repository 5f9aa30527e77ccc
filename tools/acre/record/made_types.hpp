// Finds the type that a `new` expression makes, by the debug information around the call of operator new.
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "function_names.hpp"
#include "programs/call_code.hpp"

namespace acre::tool {

/// A place in a source file; 0: not known.
struct source_place {
    std::uint64_t line = 0;
    std::uint64_t column = 0;
};

/// The place of an instruction in the line table of its unit.
source_place place_of(Dwarf_Die unit, std::uint64_t address);

/// A call of operator new in a function of the debug information.
struct call_of_new {
    call_of_new(Dwarf_Die scope, const call_code& code, std::uint64_t return_address, std::uint64_t address_in_file);

    /// Whether a constructor that is called at this place is the one of the `new` expression: the expression has one
    /// place for g++; for clang, the constructor's is that of the type's name.
    bool is_constructed_at(const source_place& constructor) const;

    /// Whether a constructor at this place is the one of the `new` expression if it gets the object: g++ gives a call
    /// without arguments the place of the expression around it.
    bool may_be_constructed_at(const source_place& constructor) const;

    const call_code* code;
    std::uint64_t return_address;   // as in the debug information
    std::uint64_t address_in_file;  // the same as in the code
    bool is_clang;
    source_place place;
    std::optional<std::uint64_t> size;  // that the call asks for
};

/// Whether a function is operator new for one object, by its name as a symbol.
bool is_operator_new(const char* symbol);

/// The class of a constructor; nothing for other functions.
std::optional<Dwarf_Die> constructed_class(Dwarf_Die function);

/// The class whose object is made with the memory that the call returns: of the constructor of the `new` expression, or
/// that a variable in the same line points to. `scope`: the innermost function at the call, which may be inlined.
/// Nothing if the debug information does not tell.
std::optional<Dwarf_Die> made_class(Dwarf_Die scope, const call_of_new& call);

/// Whether an object of the class has this size.
bool has_size(Dwarf_Die type, const std::optional<std::uint64_t>& size);

}  // namespace acre::tool
