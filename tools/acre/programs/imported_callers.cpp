#include "imported_callers.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "call_code.hpp"
#include "elf_file.hpp"
#include "opened_elf.hpp"

namespace acre::tool {

namespace {

/// The innermost function around an address by the debug information, which may be inlined.
std::optional<imported_call> function_around(Dwarf* debug_information, std::uint64_t address) {
    Dwarf_Die unit;
    if (debug_information == nullptr || dwarf_addrdie(debug_information, address, &unit) == nullptr)
        return std::nullopt;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&unit, address, &scopes);
    std::optional<imported_call> found;
    for (int i = 0; i < count && !found; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        const char* name = dwarf_diename(&scopes[i]);
        found = imported_call{name != nullptr ? name : ""};
    }
    std::free(scopes);
    Dwarf_Line* line = found ? dwarf_getsrc_die(&unit, address) : nullptr;
    int number = 0;
    if (line != nullptr && dwarf_lineno(line, &number) == 0 && number > 0) {
        const char* file = dwarf_linesrc(line, nullptr, nullptr);
        found->file = file != nullptr ? file : "";
        found->line = static_cast<std::uint32_t>(number);
    }
    return found;
}

}  // namespace

std::vector<imported_call> callers_of_imported(const std::filesystem::path& file,
                                               std::span<const std::string_view> names) {
    std::vector<imported_call> found;
    const function_table symbols{file};
    with_elf_file(file, [&](Elf* elf) {
        const std::unique_ptr<Dwarf, decltype(&dwarf_end)> debug_information{
            dwarf_begin_elf(elf, DWARF_C_READ, nullptr), &dwarf_end};
        for (const std::uint64_t end : call_code{elf}.ends_of_calls_of(names)) {
            std::optional<imported_call> call = function_around(debug_information.get(), end - 1);
            if (const auto symbol = symbols.find(end - 1); !call && symbol) call = imported_call{symbol->symbol};
            if (!call || call->function.empty()) continue;
            if (std::ranges::find(found, call->function, &imported_call::function) == found.end())
                found.push_back(*std::move(call));
        }
    });
    return found;
}

}  // namespace acre::tool
