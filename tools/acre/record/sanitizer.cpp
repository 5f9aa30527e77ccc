#include "sanitizer.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace acre::tool {

namespace {

using elf_file = std::unique_ptr<Elf, decltype(&elf_end)>;

/// By the function that a program of it calls first, which both gcc and clang leave among its dynamic symbols.
std::string_view sanitizer_begun_by(std::string_view function) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> sanitizers{{
        {"__asan_init", "AddressSanitizer"},
        {"__hwasan_init", "HWAddressSanitizer"},
        {"__lsan_init", "LeakSanitizer"},
        {"__msan_init", "MemorySanitizer"},
        {"__tsan_init", "ThreadSanitizer"},
    }};
    for (const auto& [begins, name] : sanitizers) {
        if (function == begins) return name;
    }
    return {};
}

std::string_view sanitizer_in(Elf* file, Elf_Scn* section) {
    GElf_Shdr head{};
    if (gelf_getshdr(section, &head) == nullptr || head.sh_type != SHT_DYNSYM) return {};
    Elf_Data* symbols = elf_getdata(section, nullptr);
    GElf_Sym symbol{};
    for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
        const char* name = elf_strptr(file, head.sh_link, symbol.st_name);
        const std::string_view found = name != nullptr ? sanitizer_begun_by(name) : std::string_view{};
        if (!found.empty()) return found;
    }
    return {};
}

}  // namespace

std::string sanitizer_of(const std::filesystem::path& program) {
    const int descriptor = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || elf_version(EV_CURRENT) == EV_NONE) return {};
    std::string found;
    {
        const elf_file file{elf_begin(descriptor, ELF_C_READ, nullptr), &elf_end};
        Elf_Scn* section = nullptr;
        while (file && found.empty() && (section = elf_nextscn(file.get(), section)) != nullptr)
            found = sanitizer_in(file.get(), section);
    }
    ::close(descriptor);
    return found;
}

}  // namespace acre::tool
