// Unwind tables with programs of any instructions, some of whose other bytes are changed, and which end where memory
// cannot be read: each gives a rule.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/choices.hpp"
#include "record/preload/unwind_rule.hpp"

namespace {

using namespace acre::recorder;

constexpr std::size_t room = 16384;
constexpr std::size_t hole = 1 << 20;
constexpr std::int32_t code = 0x10'0000;  // where the described function begins, from the header
constexpr std::size_t entries = 20;       // where the entries begin

template <typename Number>
void append(std::string& bytes, Number value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string bytes_of(acre_test::choices& choose, std::size_t most) {
    const auto taken = choose.take(choose() % most);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::string with_length(const std::string& entry) {
    std::string bytes;
    append(bytes, static_cast<std::uint32_t>(entry.size()));
    return bytes + entry;
}

/// .eh_frame_hdr and .eh_frame of one function, valid except for the instructions.
std::string tables_of(acre_test::choices& choose) {
    std::string common(4, '\0');
    common += "\1zR";
    common += '\0';
    common += "\1\x78\x10\1\x1b\x0c\7\x08\x90\1" + bytes_of(choose, 64);
    common = with_length(common);
    std::string description;
    const std::size_t begin = entries + common.size() + 8;
    append(description, static_cast<std::uint32_t>(common.size() + 4));
    append(description, code - static_cast<std::int32_t>(begin));
    append(description, std::uint32_t{0x1000});
    description += '\0' + bytes_of(choose, 512);
    std::string bytes = "\1\x1b\3\x3b";
    append(bytes, std::uint32_t{0});
    append(bytes, std::uint32_t{1});
    append(bytes, code);
    append(bytes, static_cast<std::int32_t>(entries + common.size()));
    return bytes + common + with_length(description);
}

void damage(std::string& bytes, acre_test::choices& choose) {
    for (std::uint32_t changes = choose() % 8; changes > 4; --changes) {
        bytes[choose() % bytes.size()] = static_cast<char>(choose());
    }
    if (const std::uint32_t cut = choose(); cut % 8 == 0) bytes.resize(1 + cut / 8 % bytes.size());
}

/// Memory that ends where a hole begins, which cannot be read.
char* memory() {
    void* mapped = ::mmap(nullptr, room + hole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    ::mprotect(static_cast<char*>(mapped) + room, hole, PROT_NONE);
    return static_cast<char*>(mapped);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    static char* const begin = memory();
    static readable_pages pages;
    acre_test::choices choose{{data, bytes}};
    std::string tables = tables_of(choose);
    damage(tables, choose);
    if (tables.size() > room) return 0;
    char* const header = begin + room - tables.size();
    std::memcpy(header, tables.data(), tables.size());
    const auto at = reinterpret_cast<std::uintptr_t>(header);
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    module_memory holed{pages, first, first + room + hole};
    module_memory exact{pages, at, at + tables.size()};
    for (module_memory* module : {&holed, &exact}) {
        for (const int offset : {1, 100, 0xfff}) {
            const unwind_rule rule = find_unwind_rule(*module, at, at + static_cast<std::uintptr_t>(code + offset));
            if (rule.frame > unwind_rule::frame_from::chain) std::abort();
        }
    }
    return 0;
}
