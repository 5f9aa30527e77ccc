#include "rule_table.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

namespace acre::recorder {

namespace {

struct bytes_view {
    const void* at = nullptr;
    std::size_t bytes = 0;
};

/// The build-id in one note segment.
bytes_view find_build_id(const char* at, const char* end) {
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* name = at + sizeof note;
        const std::size_t name_bytes = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
        const std::size_t content_bytes = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
        if (static_cast<std::size_t>(end - name) < name_bytes + content_bytes) return {};
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
            return {name + name_bytes, note.n_descsz};
        }
        at = name + name_bytes + content_bytes;
    }
    return {};
}

bytes_view build_id_of(const dl_find_object& module) {
    const char* begin = static_cast<const char*>(module.dlfo_map_start);
    const char* end = static_cast<const char*>(module.dlfo_map_end);
    if (end - begin < static_cast<std::ptrdiff_t>(raw::page_bytes) || std::memcmp(begin, ELFMAG, SELFMAG) != 0)
        return {};
    ElfW(Ehdr) head;
    std::memcpy(&head, begin, sizeof head);
    if (head.e_phoff + head.e_phnum * sizeof(ElfW(Phdr)) > raw::page_bytes) return {};
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        ElfW(Phdr) segment;
        std::memcpy(&segment, begin + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_NOTE) continue;
        const char* notes = reinterpret_cast<const char*>(module.dlfo_link_map->l_addr + segment.p_vaddr);
        if (notes < begin || notes + segment.p_memsz > end) continue;
        const bytes_view found = find_build_id(notes, notes + segment.p_memsz);
        if (found.bytes != 0 && found.bytes <= 64) return found;
    }
    return {};
}

/// The absolute path for a name that the dynamic loader gives; the program's own name is empty there.
std::size_t absolute_path(const char* name, char* out, std::size_t room) {
    if (name == nullptr || *name == 0) {
        const long length = system_call(__NR_readlinkat, AT_FDCWD, "/proc/self/exe", out, room);
        return length > 0 ? static_cast<std::size_t>(length) : 0;
    }
    std::size_t used = 0;
    if (*name != '/' && std::strchr(name, '/') != nullptr) {
        const long length = system_call(__NR_getcwd, out, room);
        if (length > 1) {
            used = static_cast<std::size_t>(length);
            out[used - 1] = '/';
        }
    }
    const std::size_t bytes = std::strlen(name);
    const std::size_t fitting = bytes < room - used ? bytes : room - used;
    std::memcpy(out + used, name, fitting);
    return used + fitting;
}

}  // namespace

std::uint32_t module_list::find(std::uintptr_t address, log_file& log, const void*& header, bool& changed) {
    dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return 0;
    header = found.dlfo_eh_frame;
    const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    const auto end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
    for (std::uint32_t i = 0; i < count_; ++i) {
        const known_module& each = known_[i];
        if (each.begin == begin && each.end == end && each.identity == found.dlfo_link_map) return i + 1;
    }
    forget_overlapping(found, changed);
    if (count_ == limit) return 0;
    known_[count_++] = {begin, end, found.dlfo_link_map};
    describe(count_, found, log);
    return count_;
}

void module_list::forget_overlapping(const dl_find_object& found, bool& changed) {
    const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    const auto end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
    for (std::uint32_t i = 0; i < count_; ++i) {
        known_module& each = known_[i];
        if (each.begin >= end || begin >= each.end) continue;
        each.end = 0;
        changed = true;
    }
}

bool module_list::forget_unloaded() {
    bool changed = false;
    for (std::uint32_t i = 0; i < count_; ++i) {
        known_module& each = known_[i];
        dl_find_object found;
        if (each.end == 0) continue;
        if (_dl_find_object(reinterpret_cast<void*>(each.begin), &found) == 0 && found.dlfo_link_map == each.identity) {
            continue;
        }
        each.end = 0;
        changed = true;
    }
    return changed;
}

void module_list::describe(std::uint32_t number, const dl_find_object& found, log_file& log) {
    const bytes_view build_id = build_id_of(found);
    raw::module_record record{};
    record.number = number;
    record.build_id_bytes = static_cast<std::uint32_t>(build_id.bytes);
    record.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    record.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
    record.load_bias = found.dlfo_link_map->l_addr;
    record.path_bytes = static_cast<std::uint32_t>(absolute_path(found.dlfo_link_map->l_name, path_, sizeof path_));
    const log_file::piece pieces[] = {
        {&record, sizeof record}, {build_id.at, build_id.bytes}, {path_, record.path_bytes}};
    log.append(raw::chunk_kind::module, pieces, 3);
}

unwind_rule rule_table::rule_of(std::uintptr_t address, const void* header) const {
    if (frame_pointers_) return frame_pointer_rule;
    return header != nullptr ? find_unwind_rule(header, address) : unwind_rule{};
}

rule_table::result rule_table::add(std::uintptr_t address, log_file& log) {
    const lock_guard guard{changing_};
    const void* header = nullptr;
    bool changed = false;
    const std::uint32_t module = modules_.find(address - 1, log, header, changed);
    if (changed) forget_entries();
    // Code outside modules can be replaced unnoticed, so it is not cached.
    if (module == 0) return {address << 16 >> 16, {}};
    const result found{address | std::uint64_t{module} << 48, rule_of(address, header)};
    if (rules_.make_room()) rules_.add(found.address, {found.rule});
    return found;
}

void rule_table::forget_unloaded() {
    const lock_guard guard{changing_};
    if (modules_.forget_unloaded()) forget_entries();
}

void rule_table::forget_entries() {
    rules_.forget_unless([&](tagged_address key) { return modules_.loaded(static_cast<std::uint32_t>(key >> 48)); });
    epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace acre::recorder
