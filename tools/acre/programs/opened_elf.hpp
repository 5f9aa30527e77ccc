// Opens an ELF file for the functions of libelf, and goes through its parts.
#pragma once

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
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

/// Calls `function(section, head)` for each section of a type.
template <class Function>
void with_sections(Elf* file, GElf_Word type, Function function) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(file, section)) != nullptr;) {
        GElf_Shdr head{};
        if (gelf_getshdr(section, &head) != nullptr && head.sh_type == type) function(section, head);
    }
}

/// Calls `function(segment)` for each segment of a type.
template <class Function>
void with_segments(Elf* file, GElf_Word type, Function function) {
    std::size_t segments = 0;
    if (elf_getphdrnum(file, &segments) != 0) return;
    for (int i = 0; i < static_cast<int>(segments); ++i) {
        GElf_Phdr segment{};
        if (gelf_getphdr(file, i, &segment) != nullptr && segment.p_type == type) function(segment);
    }
}

/// Calls `function(address, type, name)` for each pointer that the loader sets to a function or a variable with a name.
template <class Function>
void with_loaded_pointers(Elf* file, Function function) {
    with_sections(file, SHT_RELA, [&](Elf_Scn* section, const GElf_Shdr& head) {
        Elf_Scn* const symbols = elf_getscn(file, head.sh_link);
        GElf_Shdr symbols_head{};
        if (symbols == nullptr || gelf_getshdr(symbols, &symbols_head) == nullptr) return;
        Elf_Data* const table = elf_getdata(symbols, nullptr);
        Elf_Data* const relocations = elf_getdata(section, nullptr);
        if (table == nullptr || relocations == nullptr) return;
        GElf_Rela each{};
        for (int i = 0; gelf_getrela(relocations, i, &each) != nullptr; ++i) {
            GElf_Sym symbol{};
            if (gelf_getsym(table, static_cast<int>(GELF_R_SYM(each.r_info)), &symbol) == nullptr) continue;
            const char* name = elf_strptr(file, symbols_head.sh_link, symbol.st_name);
            if (name != nullptr && *name != '\0') function(each.r_offset, GELF_R_TYPE(each.r_info), name);
        }
    });
}

}  // namespace acre::tool
