// Names of functions from the debug information of their file, qualified by their namespaces, classes and functions.
// Also for functions without a linkage name, as g++ makes of types that are local to one source file.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace acre::tool {

/// The demangled name, or the name itself if it is not mangled.
std::string demangled(const char* name);

/// The names in one file; caches them.
class function_names {
public:
    /// The name of a function or of an inlined call; empty if it has none.
    std::string of(Dwarf_Die& function);

    /// The name of a class.
    std::string of_type(Dwarf_Die& type);

private:
    std::string scope_of(Dwarf_Die& entry);

    std::unordered_map<const void*, std::string> known_;  // by the declaration's address
};

}  // namespace acre::tool
