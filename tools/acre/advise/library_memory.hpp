// Memory that a library allocates for itself, not by a call of the program that could get other memory: the C or C++
// library, or one that acre has a hook for.
#pragma once

#include <string_view>

namespace acre::tool {

struct library_memory {
    std::string_view name;       // as a person calls it: "std::function"
    std::string_view advice{};   // what avoids the memory; empty: nothing does
    bool with_contents = false;  // also the containers in it are out of the program's reach
    std::string_view code{};     // what puts all of it into acre's memory; empty: nothing does
    std::string_view caution{};  // of that code
};

/// Whether a function is of a library that acre has a hook for. Its code is not the program's to change.
bool is_of_library_with_hook(std::string_view function);

/// Of a function of a library: the memory that it allocates for itself. Null for all others.
const library_memory* library_memory_of(std::string_view function);

/// "strdup" of "strdup" and of "__strdup": a function of the C library that allocates what the program is to free.
/// Empty for all others.
std::string_view allocating_c_function(std::string_view function);

}  // namespace acre::tool
