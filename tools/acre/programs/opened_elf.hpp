// Opens an ELF file for the functions of libelf.
#pragma once

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

namespace acre::tool {

/// Calls `function` with the opened file, or does nothing if it cannot be read.
template <class Function>
void with_elf_file(const std::filesystem::path& path, Function function) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    if (elf_version(EV_CURRENT) != EV_NONE) {
        const std::unique_ptr<Elf, decltype(&elf_end)> file{elf_begin(descriptor, ELF_C_READ, nullptr), &elf_end};
        if (file) function(file.get());
    }
    ::close(descriptor);
}

}  // namespace acre::tool
