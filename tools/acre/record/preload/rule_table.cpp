#include "rule_table.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

namespace acre::recorder {

namespace {

// Build-ids are 16 or 20 bytes; longer ones are left out.
struct build_id {
    std::size_t bytes = 0;
    unsigned char at[64];
};

/// Finds the build-id in one note segment.
bool find_build_id(module_memory& memory, std::uintptr_t at, std::uintptr_t end, build_id& out) {
    ElfW(Nhdr) note;
    while (at < end && end - at >= sizeof note && memory.read(at, note)) {
        const std::uintptr_t name = at + sizeof note;
        const std::size_t name_bytes = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
        const std::size_t content_bytes = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
        if (end - name < name_bytes + content_bytes) return false;
        char owner[4] = {};
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memory.read(name, owner) &&
            std::memcmp(owner, "GNU", 4) == 0) {
            const std::uintptr_t content = name + name_bytes;
            if (note.n_descsz > sizeof out.at || !memory.holds(content, note.n_descsz)) return false;
            std::memcpy(out.at, reinterpret_cast<const void*>(content), note.n_descsz);
            out.bytes = note.n_descsz;
            return true;
        }
        at = name + name_bytes + content_bytes;
    }
    return false;
}

/// The build-id of a module whose first page has the head of its file, as linkers make them.
build_id build_id_of(module_memory& memory, const dl_find_object& module) {
    const auto begin = reinterpret_cast<std::uintptr_t>(module.dlfo_map_start);
    build_id found;
    ElfW(Ehdr) head;
    if (!memory.read(begin, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return found;
    constexpr unsigned max_segments = 72;
    constexpr std::size_t max_notes = 16 * raw::page_bytes;
    if (head.e_phoff > raw::page_bytes || head.e_phnum > max_segments) return found;
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!memory.read(begin + head.e_phoff + i * sizeof segment, segment)) return found;
        if (segment.p_type != PT_NOTE) continue;
        const std::uintptr_t notes = module.dlfo_link_map->l_addr + segment.p_vaddr;
        const std::size_t bytes = segment.p_memsz < max_notes ? segment.p_memsz : max_notes;
        if (find_build_id(memory, notes, notes + bytes, found)) return found;
    }
    return found;
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

raw::file_identity identity_of(const char* path) {
    struct stat status;
    if (system_call(__NR_newfstatat, AT_FDCWD, path, &status, 0) != 0) return {};
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

/// Whether code is the begin of a jump through a table, as linkers make one for each function of another module: after
/// the mark of a target (endbr64) and a prefix (bnd).
bool jumps_through_table(const unsigned char (&code)[8]) {
    constexpr unsigned char mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    std::size_t at = std::memcmp(code, mark, sizeof mark) == 0 ? sizeof mark : 0;
    if (code[at] == 0xf2) ++at;
    return code[at] == 0xff && code[at + 1] == 0x25;
}

/// Whether the code before a return address calls a function of the same module by its address.
bool calls_function_of(module_memory& memory, std::uintptr_t return_address) {
    struct [[gnu::packed]] {
        unsigned char opcode;
        std::int32_t distance;
    } call;
    unsigned char begin[8];
    if (!memory.read(return_address - sizeof call, call) || call.opcode != 0xe8) return false;
    const std::uintptr_t function = return_address + static_cast<std::uintptr_t>(std::intptr_t{call.distance});
    return memory.read(function, begin) && !jumps_through_table(begin);
}

}  // namespace

std::uint32_t module_list::find(std::uintptr_t address, log_file& log, dl_find_object& found, bool& changed) {
    if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return 0;
    const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    const auto end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
    for (std::uint32_t i = 0; i < count_; ++i) {
        const known_module& each = known_[i];
        if (each.begin == begin && each.end == end && each.identity == found.dlfo_link_map) return i + 1;
    }
    forget_overlapping(found, changed);
    pages_.forget();
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
    pages_.forget();
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
    module_memory memory = memory_of(found);
    const build_id id = build_id_of(memory, found);
    raw::module_record record{};
    record.number = number;
    record.build_id_bytes = static_cast<std::uint32_t>(id.bytes);
    record.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    record.end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end);
    record.load_bias = found.dlfo_link_map->l_addr;
    const char* name = found.dlfo_link_map->l_name;
    record.path_bytes = static_cast<std::uint32_t>(absolute_path(name, path_, sizeof path_ - 1));
    path_[record.path_bytes] = 0;
    // The link leads to the program's file even if another one has its name now.
    const bool is_program = name == nullptr || *name == 0;
    if (id.bytes == 0) record.file = identity_of(is_program ? "/proc/self/exe" : path_);
    const log_file::piece pieces[] = {{&record, sizeof record}, {id.at, id.bytes}, {path_, record.path_bytes}};
    log.append(raw::chunk_kind::module, pieces, 3);
}

module_memory module_list::memory_of(const dl_find_object& module) {
    return {pages_, reinterpret_cast<std::uintptr_t>(module.dlfo_map_start),
            reinterpret_cast<std::uintptr_t>(module.dlfo_map_end)};
}

unwind_rule rule_table::rule_of(std::uintptr_t address, const dl_find_object& module) {
    if (frame_pointers_) return frame_pointer_rule;
    if (module.dlfo_eh_frame == nullptr) return {};
    module_memory memory = modules_.memory_of(module);
    return find_unwind_rule(memory, reinterpret_cast<std::uintptr_t>(module.dlfo_eh_frame), address);
}

rule_table::result rule_table::add(std::uintptr_t address, log_file& log) {
    const lock_guard guard{changing_};
    dl_find_object module;
    bool changed = false;
    const std::uint32_t number = modules_.find(address - 1, log, module, changed);
    if (changed) forget_entries();
    // Code outside modules can be replaced unnoticed, so it is not cached.
    if (number == 0) return {address << 16 >> 16, {}};
    module_memory memory = modules_.memory_of(module);
    const tagged_address call = calls_function_of(memory, address) ? calls_own_module : 0;
    const result found{address | std::uint64_t{number} << 48 | call, rule_of(address, module)};
    if (rules_.make_room()) rules_.add(found.address, {found.rule});
    return found;
}

void rule_table::forget_unloaded() {
    const lock_guard guard{changing_};
    if (modules_.forget_unloaded()) forget_entries();
}

void rule_table::forget_entries() {
    rules_.forget_unless([&](tagged_address key) { return modules_.loaded(module_of(key)); });
    epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace acre::recorder
