// The machine code of the program and its libraries, where their files are still those of the recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "own_call.hpp"
#include "programs/elf_file.hpp"
#include "programs/imported_uses.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Functions of the C library that free, or free what they reallocate.
bool is_freeing(std::string_view imported);

/// Whether a use is a call, or a jump as the last step of a function.
inline bool is_call(const imported_use& use) {
    return use.kind == use_kind::call || use.kind == use_kind::jump;
}

/// Reads each file once.
class recorded_code {
public:
    /// `paths` must outlive this object.
    explicit recorded_code(const call_paths& paths);
    ~recorded_code();
    recorded_code(const recorded_code&) = delete;
    recorded_code& operator=(const recorded_code&) = delete;

    /// Where a module's file uses functions of the C library that allocate or free; nothing where the file is not that
    /// of the recording.
    const std::vector<imported_use>& memory_uses(std::uint32_t module);

    /// Whether the program's code calls by a pointer there, or calls a function that was left by a jump through a
    /// pointer. False where the file is not that of the recording.
    bool is_by_pointer(const own_call& call);

private:
    struct file;

    file& file_of(std::uint32_t module);

    const call_paths& paths_;
    std::map<std::uint32_t, std::unique_ptr<file>> files_;  // by module
};

}  // namespace acre::tool
