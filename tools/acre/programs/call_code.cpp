#include "call_code.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "opened_elf.hpp"

namespace acre::tool {

namespace {

// Bytes of a direct call, and of an instruction that sets the first argument: an opcode and 32 bits.
constexpr std::uint64_t call_bytes = 5;
constexpr unsigned char call_opcode = 0xe8;
constexpr unsigned char set_argument_opcode = 0xbf;

// How far from the call the code is searched. The size is set just before it; in the constructor's arguments may be
// other calls.
constexpr std::uint64_t searched_before = 16;
constexpr std::uint64_t searched_after = 96;

// Bytes of a move between registers: a prefix with the high bits of their numbers, an opcode, and the low bits.
constexpr std::uint64_t move_bytes = 3;
constexpr unsigned char move_opcode = 0x89;
constexpr unsigned result_register = 0;    // rax
constexpr unsigned argument_register = 7;  // rdi

struct register_move {
    unsigned from;
    unsigned to;
};

std::optional<register_move> move_at(const unsigned char* code) {
    const unsigned prefix = code[0];
    const unsigned numbers = code[2];
    if ((prefix & 0xfaU) != 0x48 || code[1] != move_opcode || numbers < 0xc0) return std::nullopt;
    return register_move{.from = (numbers >> 3U & 7U) | (prefix & 4U) << 1U,
                         .to = (numbers & 7U) | (prefix & 1U) << 3U};
}

std::int32_t number_at(const unsigned char* bytes) {
    std::int32_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

std::uint64_t target_of(std::uint64_t end_of_call, const unsigned char* call) {
    return end_of_call + static_cast<std::uint64_t>(std::int64_t{number_at(call + 1)});
}

// A call or a jump through a pointer of the file: two bytes, and the distance of the pointer.
constexpr std::uint64_t pointer_jump_bytes = 6;
constexpr unsigned char pointer_opcode = 0xff;
constexpr unsigned char pointer_jump = 0x25;
constexpr unsigned char pointer_call = 0x15;

std::uint64_t pointer_of(std::uint64_t end_of_jump, const unsigned char* jump) {
    return end_of_jump + static_cast<std::uint64_t>(std::int64_t{number_at(jump + 2)});
}

}  // namespace

call_code::call_code(Elf* file) {
    GElf_Ehdr head{};
    if (gelf_getehdr(file, &head) == nullptr || head.e_machine != EM_X86_64) return;
    add_segments(file);
    add_imports(file);
}

void call_code::add_segments(Elf* file) {
    std::size_t count = 0;
    if (elf_getphdrnum(file, &count) != 0) return;
    for (int i = 0; i < static_cast<int>(count); ++i) {
        GElf_Phdr each;
        if (gelf_getphdr(file, i, &each) == nullptr || each.p_type != PT_LOAD || (each.p_flags & PF_X) == 0) continue;
        const Elf_Data* data =
            elf_getdata_rawchunk(file, static_cast<std::int64_t>(each.p_offset), each.p_filesz, ELF_T_BYTE);
        if (data == nullptr || data->d_buf == nullptr) continue;
        segments_.push_back({each.p_vaddr, data->d_size, static_cast<const unsigned char*>(data->d_buf)});
    }
}

/// A file calls functions of others through pointers that the loader sets: one for calls, and one more where the code
/// also takes the function's address.
void call_code::add_imports(Elf* file) {
    with_loaded_pointers(file, [this](std::uint64_t address, std::uint64_t type, const char* name) {
        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) imports_.emplace(address, name);
    });
}

/// The code at an address if that much of it before and after is there, else null.
const unsigned char* call_code::at(std::uint64_t address, std::uint64_t before, std::uint64_t after) const {
    for (const segment& each : segments_) {
        if (address < each.begin || address - each.begin > each.bytes) continue;
        const std::uint64_t offset = address - each.begin;
        if (offset >= before && each.bytes - offset >= after) return each.code + offset;
    }
    return nullptr;
}

std::optional<std::uint64_t> call_code::target(std::uint64_t return_address) const {
    const unsigned char* code = at(return_address, call_bytes, 0);
    if (code == nullptr || *(code - call_bytes) != call_opcode) return std::nullopt;
    return target_of(return_address, code - call_bytes);
}

std::optional<std::uint64_t> call_code::jump_target(std::uint64_t end) const {
    constexpr unsigned char jump = 0xe9;
    constexpr unsigned char short_jump = 0xeb;
    constexpr unsigned char long_opcode = 0x0f;  // of a conditional jump; its condition follows
    constexpr unsigned char indirect_jump = 0xff;
    const unsigned char* code = at(end, call_bytes + 1, 0);
    if (code == nullptr) return std::nullopt;
    const bool is_conditional = *(code - 6) == long_opcode && (*(code - 5) & 0xf0U) == 0x80;
    if (*(code - 5) == jump || is_conditional) return target_of(end, code - call_bytes);
    // The distance of an indirect jump may look like a short one.
    if (*(code - 2) != short_jump || *(code - 6) == indirect_jump || *(code - 3) == indirect_jump) return std::nullopt;
    return end + static_cast<std::uint64_t>(std::int64_t{static_cast<signed char>(*(code - 1))});
}

std::optional<std::uint64_t> call_code::table_entry_of(std::uint64_t address) const {
    constexpr std::array<unsigned char, 4> mark{0xf3, 0x0f, 0x1e, 0xfa};  // of a target of jumps
    constexpr unsigned char prefix = 0xf2;
    constexpr std::uint64_t longest = mark.size() + 1 + pointer_jump_bytes;
    const unsigned char* const begin = at(address, 0, longest);
    if (begin == nullptr) return std::nullopt;
    const unsigned char* code = begin;
    if (std::equal(mark.begin(), mark.end(), code)) code += mark.size();
    if (*code == prefix) ++code;
    if (code[0] != pointer_opcode || code[1] != pointer_jump) return std::nullopt;
    return pointer_of(address + static_cast<std::uint64_t>(code - begin) + pointer_jump_bytes, code);
}

bool call_code::jumps_through_table(std::uint64_t address) const {
    return table_entry_of(address).has_value();
}

std::optional<std::uint64_t> call_code::first_argument(std::uint64_t return_address) const {
    const unsigned char* code = at(return_address, call_bytes + searched_before, 0);
    if (code == nullptr) return std::nullopt;
    for (std::uint64_t before = call_bytes; before <= searched_before; ++before) {
        const unsigned char* instruction = code - call_bytes - before;
        if (*instruction == set_argument_opcode) return static_cast<std::uint32_t>(number_at(instruction + 1));
    }
    return std::nullopt;
}

std::vector<call_code::direct_call> call_code::next_calls(std::uint64_t return_address) const {
    std::vector<direct_call> calls;
    const unsigned char* code = at(return_address, 0, searched_after);
    for (std::uint64_t i = 0; code != nullptr && i + call_bytes <= searched_after; ++i) {
        const std::uint64_t end = return_address + i + call_bytes;
        if (code[i] == call_opcode) calls.push_back({target_of(end, code + i), end});
    }
    return calls;
}

bool call_code::may_call(std::uint64_t begin, std::uint64_t end) const {
    const unsigned char* code = end >= begin ? at(begin, 0, end - begin) : nullptr;
    return code == nullptr || std::find(code, code + (end - begin), call_opcode) != code + (end - begin);
}

bool call_code::passes_result(std::uint64_t return_address, std::uint64_t later_return_address) const {
    const std::uint64_t call = later_return_address - call_bytes;
    if (call < return_address + move_bytes) return false;
    const unsigned char* after = at(return_address, 0, move_bytes);
    const unsigned char* before = at(call, move_bytes, 0);
    if (after == nullptr || before == nullptr) return false;
    const std::optional<register_move> kept = move_at(after);
    const std::optional<register_move> passed = move_at(before - move_bytes);
    if (!kept || kept->from != result_register || !passed || passed->to != argument_register) return false;
    if (kept->to == passed->from) return !may_call(return_address, call);
    // The result's own register soon holds something else.
    return passed->from == result_register && call - return_address <= 2 * move_bytes;
}

const char* call_code::imported_at(std::uint64_t pointer) const {
    const auto found = imports_.find(pointer);
    return found == imports_.end() ? nullptr : found->second;
}

const char* call_code::imported(std::uint64_t target) const {
    const std::optional<std::uint64_t> pointer = table_entry_of(target);
    return pointer ? imported_at(*pointer) : nullptr;
}

std::vector<call_code::import_use> call_code::uses_of(std::span<const std::string_view> names) const {
    constexpr unsigned char jump_opcode = 0xe9;
    constexpr std::uint64_t distance_bytes = 4;
    std::map<std::uint64_t, const char*> wanted;
    for (const auto& [pointer, name] : imports_) {
        if (std::ranges::find(names, std::string_view{name}) != names.end()) wanted.emplace(pointer, name);
    }
    std::vector<import_use> uses;
    if (wanted.empty()) return uses;
    const std::uint64_t lowest = wanted.begin()->first;
    const std::uint64_t highest = wanted.rbegin()->first;
    const auto add = [&](std::uint64_t end, std::optional<std::uint64_t> pointer, use_kind kind) {
        if (!pointer || *pointer < lowest || *pointer > highest) return;
        if (const auto found = wanted.find(*pointer); found != wanted.end()) uses.push_back({end, found->second, kind});
    };
    for (const segment& each : segments_) {
        // A distance stands behind the opcode, at the end of all these instructions.
        for (std::uint64_t i = 2; i + distance_bytes <= each.bytes; ++i) {
            const unsigned char* const before = each.code + i - 2;
            const std::uint64_t end = each.begin + i + distance_bytes;
            const std::uint64_t target = end + static_cast<std::uint64_t>(std::int64_t{number_at(each.code + i)});
            const bool is_conditional = before[0] == 0x0f && (before[1] & 0xf0U) == 0x80;
            if (before[1] == call_opcode) {
                add(end, table_entry_of(target), use_kind::call);
            } else if (before[1] == jump_opcode || is_conditional) {
                add(end, table_entry_of(target), use_kind::jump);
            } else if (before[0] == pointer_opcode && before[1] == pointer_call) {
                add(end, target, use_kind::call);
            } else if (before[0] == pointer_opcode && before[1] == pointer_jump) {
                add(end, target, use_kind::jump);
            } else if ((before[1] & 0xc7U) == 0x05) {  // the operand is at a distance from the instruction
                add(end, target, use_kind::address);
            }
        }
    }
    return uses;
}

}  // namespace acre::tool
