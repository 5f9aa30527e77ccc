// A plan as the command hands it to libacre-plan.so: a table in a file without a name, whose descriptor the variable
// ACRE_PLAN_TABLE tells.
//
// The command has checked the plan; the library only checks that the table is one, for the program may have closed the
// descriptor and opened another file in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre::preload {

/// What becomes of a group's requests. `caller`: the group is a wrapper, and its caller's return address decides.
enum class plan_policy : std::uint8_t { leave, pool, counted, separate, heap, caller };

struct plan_table {
    static constexpr const char* variable = "ACRE_PLAN_TABLE";
    static constexpr char right_magic[8] = {'a', 'c', 'r', 'e', 'p', 'l', 'a', 'n'};
    static constexpr std::uint32_t right_version = 3;
    static constexpr std::uint32_t max_sites = 4096;
    static constexpr std::uint32_t max_modules = 1024;
    static constexpr std::uint32_t max_groups = 255;
    static constexpr std::uint32_t max_build_id_bytes = 64;

    /// A module, which is recognised by its build id.
    struct module_entry {
        std::uint32_t first_site;
        std::uint32_t sites;
        std::uint8_t build_id_bytes;
        std::uint8_t build_id[max_build_id_bytes];
        std::uint8_t unused[7];
    };
    struct site_entry {
        std::uint64_t offset;  // of the return address, from where the module is loaded
        std::uint32_t group;   // from 1 on
        std::uint32_t within;  // the wrapper, a group, whose caller this is; 0: the address is malloc's own
    };

    /// What is known of a wrapper: a site's return address, which a group of policy `caller` stands for.
    struct wrapper_entry {
        std::uint16_t frame_bytes;  // its caller's return address lies so far above its own
        std::uint16_t otherwise;    // the group of callers that are not planned; 0: none
    };
    static constexpr std::uint32_t max_frame_bytes = 512;
    static constexpr std::uint32_t max_frames = 4;  // return addresses that name a site

    char magic[8];
    std::uint32_t version;
    std::uint32_t bytes;  // of the whole table
    std::uint32_t modules;
    std::uint32_t sites;
    plan_policy policies[max_groups + 1];    // by group
    wrapper_entry wrappers[max_groups + 1];  // by group
    std::uint64_t leaves_to_malloc_below;    // 1: what is not planned; 0: to the heap

    const module_entry* first_module() const noexcept { return reinterpret_cast<const module_entry*>(this + 1); }
    const site_entry* first_site() const noexcept {
        return reinterpret_cast<const site_entry*>(first_module() + modules);
    }

    /// Whether `length` bytes at `of` are a table.
    static bool is_sound(const void* of, std::size_t length) noexcept {
        if (length < sizeof(plan_table)) return false;
        const auto& table = *static_cast<const plan_table*>(of);
        if (std::memcmp(table.magic, right_magic, sizeof right_magic) != 0 || table.version != right_version ||
            table.modules > max_modules || table.sites > max_sites || table.bytes != length ||
            length != sizeof table + table.modules * sizeof(module_entry) + table.sites * sizeof(site_entry))
            return false;
        for (std::uint32_t i = 0; i < table.modules; ++i) {
            const module_entry& each = table.first_module()[i];
            if (each.first_site > table.sites || each.sites > table.sites - each.first_site ||
                each.build_id_bytes > max_build_id_bytes)
                return false;
        }
        for (std::uint32_t i = 0; i < table.sites; ++i) {
            const site_entry& each = table.first_site()[i];
            if (each.group == 0 || each.group > max_groups || each.within > max_groups) return false;
        }
        for (const plan_policy each : table.policies) {
            if (each > plan_policy::caller) return false;
        }
        for (const wrapper_entry& each : table.wrappers) {
            if (each.frame_bytes > max_frame_bytes || each.frame_bytes % sizeof(std::uint64_t) != 0 ||
                each.otherwise > max_groups)
                return false;
        }
        return table.leaves_to_malloc_below <= 1;
    }
};
static_assert(sizeof(plan_table) % 8 == 0 && sizeof(plan_table::module_entry) % 8 == 0);

}  // namespace acre::preload
