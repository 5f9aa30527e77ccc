// Demangled C++ function names as people say them, and which functions only pass memory on.
#pragma once

#include <string>
#include <string_view>

namespace acre::tool {

/// Without return type, template arguments and parameters: "void store<Orc>::add<int>(int)" is "store::add".
std::string short_name(std::string_view demangled);

/// With fewer of its template arguments and parameters where it is longer than that; the function's own name stays.
std::string shortened_name(std::string_view name, std::size_t letters);

/// True for the allocation functions of the C and C++ libraries, for what std:: does between them and a program, and
/// for wrappers that are named like them (xmalloc, sqlite3DbMallocRaw): the program's own decision stands in a caller.
bool passes_memory_on(std::string_view demangled);

/// True for the allocation functions alone and what is named like them.
bool only_allocates(std::string_view demangled);

/// What passes memory on as a whole module: the C and C++ run-time libraries and the recorder itself.
bool is_runtime_library(std::string_view module_path);

}  // namespace acre::tool
