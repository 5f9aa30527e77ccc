// Finds a program as a shell does and checks whether a library can be preloaded into it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace acre::tool {

struct recordable_program {
    std::filesystem::path path;
    bool needs_preload = true;  // false: the recorder is linked into it
};

/// Throws tool_error if there is no such program, or if the recorder is not linked into it and cannot be preloaded.
recordable_program find_recordable_program(const std::string& name);

/// The program's path. Throws tool_error ("cannot VERB 'app': ...") if there is no such program, or if no malloc can be
/// preloaded into it.
std::filesystem::path find_program_to_preload(const std::string& name, std::string_view verb);

/// A function of jemalloc's own that the program calls beside malloc and free ("mallocx"); empty: none. jemalloc gives
/// their blocks, and takes only its own, so no other malloc can stand in for malloc and free. A weak reference is none:
/// such a program looks first whose malloc it has. Of a script, its interpreter's.
std::string called_of_jemalloc(const std::filesystem::path& program);

/// The ELF file that the system loads for a program: of a script, its interpreter.
std::filesystem::path executed_file(const std::filesystem::path& program);

/// A malloc that a shared library which the program is linked with brings: "jemalloc", "mimalloc", "tcmalloc"; empty
/// for the C library's. Of a script, its interpreter's.
std::string linked_malloc(const std::filesystem::path& program);

}  // namespace acre::tool
