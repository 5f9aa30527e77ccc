// Attributes of an entry of the debug information.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>

namespace acre::tool {

inline std::optional<std::uint64_t> address_of(Dwarf_Die of, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Addr value = 0;
    if (dwarf_formaddr(dwarf_attr(&of, name, &attribute), &value) != 0) return std::nullopt;
    return value;
}

inline bool has_flag(Dwarf_Die of, unsigned name) {
    Dwarf_Attribute attribute;
    bool is_set = false;
    return dwarf_formflag(dwarf_attr(&of, name, &attribute), &is_set) == 0 && is_set;
}

}  // namespace acre::tool
