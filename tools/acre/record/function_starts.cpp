#include "function_starts.hpp"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace acre::tool {

namespace {

/// How the table begins: version, then the encodings of what follows (Linux Standard Base, "The .eh_frame_hdr
/// section").
constexpr std::array<unsigned char, 4> usual_form{1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
                                                  DW_EH_PE_datarel | DW_EH_PE_sdata4};

struct table_head {
    std::array<unsigned char, 4> form;
    std::int32_t frames;  // where .eh_frame is
    std::uint32_t entries;
};

/// Both relative to the table.
struct table_entry {
    std::int32_t function;
    std::int32_t description;
};

std::optional<GElf_Phdr> segment_of_table(Elf* file) {
    std::size_t segments = 0;
    if (elf_getphdrnum(file, &segments) != 0) return std::nullopt;
    for (int i = 0; i < static_cast<int>(segments); ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(file, i, &segment) != nullptr && segment.p_type == PT_GNU_EH_FRAME) return segment;
    }
    return std::nullopt;
}

}  // namespace

function_starts::function_starts(Elf* file) {
    const auto segment = segment_of_table(file);
    if (!segment) return;
    const Elf_Data* data =
        elf_getdata_rawchunk(file, static_cast<std::int64_t>(segment->p_offset), segment->p_filesz, ELF_T_BYTE);
    table_head head{};
    if (data == nullptr || data->d_buf == nullptr || data->d_size < sizeof head) return;
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    std::memcpy(&head, bytes, sizeof head);
    if (head.form != usual_form) return;
    const std::size_t entries = std::min<std::size_t>(head.entries, (data->d_size - sizeof head) / sizeof(table_entry));
    starts_.reserve(entries);
    for (std::size_t i = 0; i < entries; ++i) {
        table_entry entry;
        std::memcpy(&entry, bytes + sizeof head + i * sizeof entry, sizeof entry);
        starts_.push_back(segment->p_vaddr + static_cast<std::uint64_t>(std::int64_t{entry.function}));
    }
    std::sort(starts_.begin(), starts_.end());
}

std::optional<std::uint64_t> function_starts::find(std::uint64_t address) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
    if (after == starts_.begin()) return std::nullopt;
    return *(after - 1);
}

}  // namespace acre::tool
