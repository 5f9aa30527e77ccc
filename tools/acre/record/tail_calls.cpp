#include "tail_calls.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "dwarf_attribute.hpp"

namespace acre::tool {

namespace {

/// More jumps than that are not told apart, nor are they searched.
constexpr std::size_t most_jumps = 16;

/// Collects the jumps of one function, with those of functions that are inlined in it.
class jump_search {
public:
    jump_search(const call_code& code, std::uint64_t shift) : code_{code}, shift_{shift} {}

    void search(Dwarf_Die parent, int depth) {
        Dwarf_Die child;
        if (depth == 0 || dwarf_child(&parent, &child) != 0) return;
        do {
            switch (dwarf_tag(&child)) {
                case DW_TAG_call_site:
                    if (has_flag(child, DW_AT_call_tail_call))
                        take(address_of(child, DW_AT_call_return_pc), address_of(child, DW_AT_call_pc));
                    break;
                case DW_TAG_GNU_call_site:
                    if (has_flag(child, DW_AT_GNU_tail_call)) take(address_of(child, DW_AT_low_pc), std::nullopt);
                    break;
                case DW_TAG_inlined_subroutine:
                case DW_TAG_lexical_block:
                    search(child, depth - 1);
                    break;
                default:
                    break;
            }
        } while (found.size() <= most_jumps && dwarf_siblingof(&child, &child) == 0);
    }

    std::vector<tail_call> found;

private:
    /// g++ tells the end of the jump, clang its begin: a direct one has five bytes.
    void take(std::optional<std::uint64_t> end, std::optional<std::uint64_t> begin) {
        constexpr std::uint64_t direct_jump = 5;
        if (!end && !begin) return;
        if (!end) end = *begin + direct_jump;
        found.push_back({begin.value_or(*end - 1), code_.jump_target(*end - shift_)});
    }

    const call_code& code_;
    std::uint64_t shift_;
};

}  // namespace

std::vector<tail_call> tail_calls_of(Dwarf_Die function, const call_code& code, std::uint64_t shift) {
    constexpr int deepest = 64;
    jump_search jumps{code, shift};
    jumps.search(function, deepest);
    return jumps.found;
}

bool is_recorded_function(const char* symbol) {
    constexpr std::array names{"malloc",        "calloc",        "realloc",  "reallocarray",   "free",
                               "free_sized",    "cfree",         "memalign", "posix_memalign", "free_aligned_sized",
                               "aligned_alloc", "valloc",        "pvalloc",  "mallocx",        "rallocx",
                               "xallocx",       "dallocx",       "sdallocx", "__libc_malloc",  "__libc_calloc",
                               "__libc_free",   "__libc_realloc"};
    constexpr std::array operators{"_Znw", "_Zna", "_Zdl", "_Zda"};
    if (symbol == nullptr) return false;
    const std::string_view name = symbol;
    return std::ranges::any_of(names, [&](std::string_view each) { return name == each; }) ||
           std::ranges::any_of(operators, [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace acre::tool
