// What functions are called, by the debug information of their file: with the namespaces, classes and functions around
// them, also where the compiler gives no linkage name, as g++ does for all that is made of types of one source file.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace acre::tool {

/// The name as it stands in the source; as it is given where it is not a mangled one.
std::string demangled(const char* name);

/// Of one file; remembers what it has found.
class function_names {
public:
    /// A function, or an inlined call of one; empty where it has no name.
    std::string of(Dwarf_Die& function);

private:
    std::string scope_of(Dwarf_Die& entry);

    std::unordered_map<const void*, std::string> known_;  // by the declaration's address
};

}  // namespace acre::tool
