// The unwind rule and the module of each return address, in a hash table that is read without a lock.
#pragma once

#include <dlfcn.h>

#include "log_file.hpp"
#include "module_memory.hpp"
#include "published_table.hpp"
#include "system.hpp"
#include "unwind_rule.hpp"

namespace acre::recorder {

/// The mapped code files: the program and its libraries, numbered as stacks first pass through them. Zeroed memory is
/// an empty list. The caller locks.
class module_list {
public:
    static constexpr std::uint32_t limit = 4096;

    /// The number of the module that contains an address, from 1; 0 if none does. A new module is written to the log,
    /// and modules that it overlaps are forgotten, which sets `changed`. Sets `module` to what the dynamic loader says.
    std::uint32_t find(std::uintptr_t address, log_file& log, dl_find_object& module, bool& changed);

    /// Forgets the modules that are no longer loaded; returns whether there were any.
    bool forget_unloaded();

    bool loaded(std::uint32_t number) const { return known_[number - 1].end != 0; }

    /// The memory of a module; what is known about its pages lasts until a module is forgotten.
    module_memory memory_of(const dl_find_object& module);

private:
    struct known_module {
        std::uintptr_t begin;
        std::uintptr_t end;  // 0: no longer loaded
        const void* identity;
    };

    void forget_overlapping(const dl_find_object& found, bool& changed);
    void describe(std::uint32_t number, const dl_find_object& found, log_file& log);

    std::uint32_t count_;
    known_module known_[limit];
    readable_pages pages_;
    char path_[4096];
};

/// Zeroed memory is an empty table.
class rule_table {
public:
    struct result {
        tagged_address address;
        unwind_rule rule;
    };

    result find(std::uintptr_t address, log_file& log) {
        const auto found = rules_.find(
            spread(address), [address](tagged_address key, const entry&) { return ((key ^ address) << 16) == 0; });
        if (found.entry != nullptr) [[likely]]
            return {found.key, found.entry->rule};
        return add(address, log);
    }

    /// Follows frame pointers instead of unwind tables. To be called before the first find().
    void use_frame_pointers() { frame_pointers_ = true; }
    bool uses_frame_pointers() const { return frame_pointers_; }

    /// Changes whenever cached facts about addresses may no longer hold.
    std::uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

    /// To be called when libraries may have been unloaded.
    void forget_unloaded();

    /// To be called when memory of stacks may have been unmapped.
    void memory_gone() { epoch_.fetch_add(1, std::memory_order_relaxed); }

private:
    struct entry {
        unwind_rule rule;

        static std::uint64_t hash(tagged_address key, const entry&) { return spread(key << 16 >> 16); }
    };

    [[gnu::noinline]] result add(std::uintptr_t address, log_file& log);
    unwind_rule rule_of(std::uintptr_t address, const dl_find_object& module);
    void forget_entries();

    published_table<entry> rules_;
    std::atomic<std::uint32_t> epoch_;
    spin_lock changing_;
    bool frame_pointers_;
    module_list modules_;
};

}  // namespace acre::recorder
