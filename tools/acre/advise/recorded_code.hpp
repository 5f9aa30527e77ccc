// The machine code of the program and its libraries, where their files are still those of the recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "own_call.hpp"
#include "programs/elf_file.hpp"
#include "programs/imported_callers.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Functions of the C library that allocate, reallocate or free.
std::vector<std::string_view> memory_functions();

/// Those that free.
std::vector<std::string_view> freeing_functions();

/// Reads each file once. `names`: the functions of other files that are asked for.
class recorded_code {
public:
    /// `paths` must outlive this object.
    recorded_code(const call_paths& paths, std::vector<std::string_view> names);
    ~recorded_code();
    recorded_code(const recorded_code&) = delete;
    recorded_code& operator=(const recorded_code&) = delete;

    /// The functions of a module's file that call one of `names`; none where the file is not that of the recording.
    const std::vector<imported_call>& callers_in(std::uint32_t module);

    /// Whether the program's code calls by a pointer there, or calls a function that was left by a jump through a
    /// pointer. False where the file is not that of the recording.
    bool is_by_pointer(const own_call& call);

private:
    struct file;

    file& file_of(std::uint32_t module);

    const call_paths& paths_;
    std::vector<std::string_view> names_;
    std::map<std::uint32_t, std::unique_ptr<file>> files_;  // by module
};

}  // namespace acre::tool
