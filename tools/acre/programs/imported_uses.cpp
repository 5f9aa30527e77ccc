#include "imported_uses.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "call_code.hpp"
#include "elf_file.hpp"
#include "opened_elf.hpp"

namespace acre::tool {

namespace {

/// The innermost function around an address by the debug information, which may be inlined.
std::optional<imported_use> function_around(Dwarf* debug_information, std::uint64_t address) {
    Dwarf_Die unit;
    if (debug_information == nullptr || dwarf_addrdie(debug_information, address, &unit) == nullptr)
        return std::nullopt;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&unit, address, &scopes);
    std::optional<imported_use> found;
    for (int i = 0; i < count && !found; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        const char* name = dwarf_diename(&scopes[i]);
        found = imported_use{name != nullptr ? name : ""};
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

/// Variables of the file that the loader sets to the address of such a function.
void add_variables(Elf* file, std::span<const std::string_view> names, std::vector<imported_use>& found) {
    std::map<std::uint64_t, std::string_view> pointers;
    with_loaded_pointers(file, [&](std::uint64_t address, std::uint64_t type, const char* name) {
        const auto known = std::ranges::find(names, std::string_view{name});
        if (type == R_X86_64_64 && known != names.end()) pointers.emplace(address, *known);
    });
    if (pointers.empty()) return;
    with_sections(file, SHT_SYMTAB, [&](Elf_Scn* section, const GElf_Shdr& head) {
        Elf_Data* const symbols = elf_getdata(section, nullptr);
        GElf_Sym symbol{};
        for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
            const char* name = elf_strptr(file, head.sh_link, symbol.st_name);
            if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || name == nullptr) continue;
            const auto first = pointers.lower_bound(symbol.st_value);
            if (first != pointers.end() && first->first < symbol.st_value + symbol.st_size)
                found.push_back({name, std::string{first->second}, use_kind::variable});
        }
    });
}

}  // namespace

std::vector<imported_use> uses_of_imported(const std::filesystem::path& file, std::span<const std::string_view> names) {
    std::vector<imported_use> found;
    const function_table symbols{file};
    with_elf_file(file, [&](Elf* elf) {
        const std::unique_ptr<Dwarf, decltype(&dwarf_end)> debug_information{
            dwarf_begin_elf(elf, DWARF_C_READ, nullptr), &dwarf_end};
        std::set<std::tuple<std::string, std::string_view, use_kind>> known;
        for (const call_code::import_use& each : call_code{elf}.uses_of(names)) {
            std::optional<imported_use> use = function_around(debug_information.get(), each.end - 1);
            if (const auto symbol = symbols.find(each.end - 1); !use && symbol) use = imported_use{symbol->symbol};
            if (!use || use->name.empty() || !known.emplace(use->name, each.name, each.kind).second) continue;
            use->imported = each.name;
            use->kind = each.kind;
            found.push_back(*std::move(use));
        }
        add_variables(elf, names, found);
    });
    return found;
}

}  // namespace acre::tool
