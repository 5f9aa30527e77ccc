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

namespace acre::tool {

/// The machine code of a file, as far as calls are concerned. Addresses are those of the file.
class call_code {
public:
    call_code() = default;
    explicit call_code(Elf* file);

    /// Where a direct call that returns to this address goes.
    std::optional<std::uint64_t> target(std::uint64_t return_address) const;

    /// Where the direct jump that ends at this address goes, conditional or not.
    std::optional<std::uint64_t> jump_target(std::uint64_t end) const;

    /// Whether the code at an address jumps through a pointer in the file, as to a function of another file.
    bool jumps_through_table(std::uint64_t address) const;

    /// The number that the code puts into the first argument of that call, if it is a constant.
    std::optional<std::uint64_t> first_argument(std::uint64_t return_address) const;

    struct direct_call {
        std::uint64_t target;
        std::uint64_t return_address;
    };

    /// Direct calls that may follow: the code is searched for them without being decoded, so not all are real.
    std::vector<direct_call> next_calls(std::uint64_t return_address) const;

    /// Whether there may be a call in this code, as above; true if the code is not known.
    bool may_call(std::uint64_t begin, std::uint64_t end) const;

    /// Whether the code visibly moves what one call returned into the first argument of a later one.
    bool passes_result(std::uint64_t return_address, std::uint64_t later_return_address) const;

    /// The name of the function of another file that a call to this address ends up in; null if it is none.
    const char* imported(std::uint64_t target) const;

private:
    struct segment {
        std::uint64_t begin;
        std::uint64_t bytes;
        const unsigned char* code;
    };

    void add_segments(Elf* file);
    void add_imports(Elf* file);
    const unsigned char* at(std::uint64_t address, std::uint64_t before, std::uint64_t after) const;

    std::vector<segment> segments_;
    std::map<std::uint64_t, const char*> imports_;
};

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
