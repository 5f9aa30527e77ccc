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

    /// The number that the code puts into the first argument of that call, if it is a constant.
    std::optional<std::uint64_t> first_argument(std::uint64_t return_address) const;

    /// Where direct calls that may follow go: the code is searched for them without being decoded, so not all are real.
    std::vector<std::uint64_t> next_targets(std::uint64_t return_address) const;

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

/// A place in a function of the debug information.
struct place_in_function {
    std::uint64_t return_address = 0;   // as in the debug information
    std::uint64_t line = 0;             // of the call; 0: not known
    std::optional<std::uint64_t> size;  // that the call asks for
};

/// Whether a function is operator new for one object, by its name as a symbol.
bool is_operator_new(const char* symbol);

/// The class of a constructor; nothing for other functions.
std::optional<Dwarf_Die> constructed_class(Dwarf_Die function);

/// The class whose object is made with the memory that the call returns: of the constructor that runs next, or that a
/// variable in the same line points to. `scope`: the innermost function at the call, which may be inlined.
/// Nothing if the debug information does not tell.
std::optional<Dwarf_Die> made_class(Dwarf_Die scope, const place_in_function& call);

/// Whether an object of the class has this size.
bool has_size(Dwarf_Die type, const std::optional<std::uint64_t>& size);

}  // namespace acre::tool
