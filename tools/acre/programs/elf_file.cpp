#include "elf_file.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "opened_elf.hpp"

namespace acre::tool {

namespace {

namespace fs = std::filesystem;

std::string hexadecimal(const char* bytes, std::size_t count) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += {digits[byte / 16], digits[byte % 16]};
    }
    return text;
}

std::string build_id_in(Elf_Data* notes) {
    GElf_Nhdr note{};
    std::size_t name = 0;
    std::size_t content = 0;
    for (std::size_t at = 0; notes != nullptr && (at = gelf_getnote(notes, at, &note, &name, &content)) != 0;) {
        const char* bytes = static_cast<const char*>(notes->d_buf);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(bytes + name, "GNU", 4) == 0)
            return hexadecimal(bytes + content, note.n_descsz);
    }
    return {};
}

}  // namespace

std::string build_id_of(const fs::path& file) {
    std::string found;
    with_elf_file(file, [&](Elf* elf) {
        with_segments(elf, PT_NOTE, [&](const GElf_Phdr& segment) {
            if (!found.empty()) return;
            found = build_id_in(elf_getdata_rawchunk(elf, static_cast<std::int64_t>(segment.p_offset), segment.p_filesz,
                                                     segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
        });
    });
    return found;
}

bool has_build_id(const fs::path& file, std::string_view build_id) {
    return !build_id.empty() && build_id_of(file) == build_id;
}

std::vector<std::string> needed_libraries(const fs::path& file) {
    std::vector<std::string> names;
    with_elf_file(file, [&](Elf* elf) {
        with_sections(elf, SHT_DYNAMIC, [&](Elf_Scn* section, const GElf_Shdr& head) {
            Elf_Data* entries = elf_getdata(section, nullptr);
            GElf_Dyn entry{};
            for (int i = 0; entries != nullptr && gelf_getdyn(entries, i, &entry) != nullptr; ++i) {
                if (entry.d_tag != DT_NEEDED) continue;
                if (const char* name = elf_strptr(elf, head.sh_link, entry.d_un.d_val)) names.emplace_back(name);
            }
        });
    });
    return names;
}

function_table::function_table(const fs::path& file) {
    with_elf_file(file, [&](Elf* elf) {
        for (const GElf_Word type : {GElf_Word{SHT_SYMTAB}, GElf_Word{SHT_DYNSYM}}) {
            with_sections(elf, type, [&](Elf_Scn* section, const GElf_Shdr& head) {
                Elf_Data* symbols = elf_getdata(section, nullptr);
                GElf_Sym symbol{};
                for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
                    const char* name = elf_strptr(elf, head.sh_link, symbol.st_name);
                    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || name == nullptr)
                        continue;
                    functions_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, name});
                }
            });
            if (!functions_.empty()) break;
        }
    });
    std::ranges::sort(functions_, {}, [](const function& each) { return std::tie(each.begin, each.symbol); });
}

std::optional<function_table::place> function_table::find(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(functions_, address, {}, &function::begin);
    if (after == functions_.begin() || address >= (after - 1)->end) return std::nullopt;
    // Of several names of a function the first.
    const auto first = std::ranges::lower_bound(functions_, (after - 1)->begin, {}, &function::begin);
    return place{first->symbol, address - first->begin};
}

std::optional<std::uint64_t> function_table::address_of(const place& at) const {
    const function* found = nullptr;
    for (const function& each : functions_) {
        if (each.symbol != at.symbol) continue;
        if (found != nullptr && found->begin != each.begin) return std::nullopt;
        found = &each;
    }
    if (found == nullptr || at.offset > found->end - found->begin) return std::nullopt;
    return found->begin + at.offset;
}

namespace {

constexpr std::size_t longest_call = 7;

/// Whether the program cannot write to an address once it runs: the table of functions of other files lies there.
bool is_read_only_at_run_time(Elf* file, std::uint64_t address) {
    bool is_within = false;
    with_segments(file, PT_GNU_RELRO, [&](const GElf_Phdr& segment) {
        is_within = is_within || (address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_memsz);
    });
    return is_within;
}

/// The call at the end of these bytes, which end at `address`.
code_call call_at_end_of(const unsigned char* bytes, std::uint64_t address, Elf* file) {
    const auto before_end = [&](std::size_t length) { return bytes + longest_call - length; };
    const auto at_distance = [&] {
        std::int32_t distance = 0;
        std::memcpy(&distance, before_end(4), sizeof(distance));
        return address + static_cast<std::uint64_t>(std::int64_t{distance});
    };
    if (*before_end(5) == 0xe8) return {call_kind::direct, at_distance()};
    // FF /2 with its operand, of up to five bytes.
    for (std::size_t length = 2; length <= longest_call; ++length) {
        if (before_end(length)[0] != 0xff || (before_end(length)[1] >> 3 & 7) != 2) continue;
        const bool is_by_distance = length == 6 && before_end(length)[1] == 0x15;
        return {is_by_distance && is_read_only_at_run_time(file, at_distance()) ? call_kind::direct
                                                                                : call_kind::by_pointer};
    }
    return {};
}

}  // namespace

code_call call_before(const fs::path& file, std::uint64_t address) {
    code_call result;
    with_elf_file(file, [&](Elf* elf) {
        with_segments(elf, PT_LOAD, [&](const GElf_Phdr& segment) {
            if (address < segment.p_vaddr + longest_call || address > segment.p_vaddr + segment.p_filesz) return;
            const Elf_Data* code = elf_getdata_rawchunk(
                elf, static_cast<std::int64_t>(segment.p_offset + address - segment.p_vaddr - longest_call),
                longest_call, ELF_T_BYTE);
            if (code == nullptr || code->d_buf == nullptr) return;
            result = call_at_end_of(static_cast<const unsigned char*>(code->d_buf), address, elf);
        });
    });
    return result;
}

std::optional<std::uint64_t> frame_bytes_at(const fs::path& file, std::uint64_t return_address) {
    std::optional<std::uint64_t> result;
    with_elf_file(file, [&](Elf* elf) {
        Dwarf_CFI* const table = dwarf_getcfi_elf(elf);
        if (table == nullptr) return;
        Dwarf_Frame* frame = nullptr;
        // The rules that hold at the call itself.
        if (dwarf_cfi_addrframe(table, return_address - 1, &frame) == 0) {
            Dwarf_Op* steps = nullptr;
            std::size_t count = 0;
            constexpr Dwarf_Word stack_pointer = 7;
            if (dwarf_frame_cfa(frame, &steps, &count) == 0 && count == 1 && steps[0].atom == DW_OP_bregx &&
                steps[0].number == stack_pointer)
                result = steps[0].number2;
            std::free(frame);
        }
        dwarf_cfi_end(table);
    });
    return result;
}

}  // namespace acre::tool
