// Short forms of demangled C++ function names, and which functions only pass memory on.
#pragma once

#include <string>
#include <string_view>

namespace acre::tool {

/// Without return type, template arguments and parameters: "void store<Orc>::add<int>(int)" is "store::add".
/// Of a name that could not be demangled: as much as can be read.
std::string short_name(std::string_view demangled);

/// Shortened to about `letters` letters by leaving out nested template arguments and parameters, the deepest first.
std::string shortened_name(std::string_view name, std::size_t letters);

/// Whether the decision to allocate is a caller's: true for the allocation functions of the C and C++ libraries, for
/// functions of std:: and for wrappers with similar names (xmalloc, sqlite3DbMallocRaw).
bool passes_memory_on(std::string_view demangled);

/// True for allocation functions and functions with similar names, but not for the rest of std::.
bool only_allocates(std::string_view demangled);

/// Whether a module is one of the C and C++ run-time libraries or the recorder, whose functions all pass memory on.
bool is_runtime_library(std::string_view module_path);

}  // namespace acre::tool
