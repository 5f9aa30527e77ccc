// Which group a return address belongs to: a hash table of the planned sites' return addresses.
//
// A request that is not planned finds an empty entry at its first look, nearly always: the table has at least 16
// entries for each site. An entry is 32 bits: the low 24 of the address, and the group. So another address may be taken
// for a site, which is as correct as any other plan.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "plan/plan_table.hpp"

namespace acre::preload {

class site_table {
public:
    /// 0: none. Any thread, at any time.
    [[gnu::always_inline]] unsigned group_of(const void* caller) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(caller);
        for (const std::uint32_t* at = entries_ + first_of(address);; ++at) {
            const std::uint32_t entry = __atomic_load_n(at, __ATOMIC_RELAXED);
            if (entry == 0) [[likely]]
                return 0;
            const std::uint32_t group = entry ^ tag_of(address);
            if (group < 256) return group;
        }
    }

    /// What stands for the return address of a wrapper's caller.
    static std::uintptr_t caller_key(std::uintptr_t address, unsigned wrapper) noexcept {
        return address ^ std::uintptr_t{wrapper} * 0x9e3779;
    }

    /// Empties the table, and makes room for so many sites. Until they are added their requests are not planned.
    void clear(std::size_t sites) noexcept {
        // The first time there is nothing to empty, and looking would take all its pages.
        for (std::size_t i = 0; added_ != 0 && i < std::size(entries_); ++i) {
            if (entries_[i] != 0) __atomic_store_n(entries_ + i, 0U, __ATOMIC_RELAXED);
        }
        const auto bits = static_cast<unsigned>(std::bit_width(sites * 16));
        shift_ = bits > max_bits ? 64 - max_bits : bits < 8 ? 64 - 8 : 64 - bits;
        added_ = 0;
    }

    void add(std::uintptr_t address, unsigned group) noexcept {
        // Of a module that is loaded many times not all copies are planned.
        if (++added_ > plan_table::max_sites) return;
        std::uint32_t* at = entries_ + first_of(address);
        while (*at != 0) ++at;
        // An entry of zeroes is an empty one.
        if ((tag_of(address) | group) != 0) __atomic_store_n(at, tag_of(address) | group, __ATOMIC_RELAXED);
    }

private:
    static constexpr unsigned max_bits = 16;
    static_assert((std::size_t{1} << max_bits) >= 8 * plan_table::max_sites);

    static std::uint32_t tag_of(std::uintptr_t address) noexcept { return static_cast<std::uint32_t>(address << 8); }
    std::size_t first_of(std::uintptr_t address) const noexcept {
        return static_cast<std::size_t>(std::uint64_t{address} * 0x9e37'79b9'7f4a'7c15U >>
                                        __atomic_load_n(&shift_, __ATOMIC_RELAXED));
    }

    unsigned shift_ = 64 - 1;
    std::size_t added_ = 0;
    // Behind the last entry an empty one ends each look. Apart from the rest, so that it takes no space in the file.
    static inline constinit std::uint32_t entries_[(std::size_t{1} << max_bits) + plan_table::max_sites + 1] = {};
};

}  // namespace acre::preload
