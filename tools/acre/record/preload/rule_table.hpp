// From a return address to its unwind rule and its module: a hash table that is read without a lock.
#pragma once

#include "modules.hpp"
#include "system.hpp"
#include "unwind_rule.hpp"

namespace acre::recorder {

/// A return address with the number of its module in the upper 16 bits.
using tagged_address = std::uint64_t;

constexpr std::uint64_t spread(std::uint64_t key) {
    return key * 0x9e37'79b9'7f4a'7c15;
}

/// Zeroed memory is an empty table.
class rule_table {
public:
    struct result {
        tagged_address address;
        unwind_rule rule;
    };

    result find(std::uintptr_t address, log_file& log) {
        if (const table* now = table_.load(std::memory_order_acquire)) [[likely]] {
            for (std::size_t i = spread(address) >> now->shift;; i = (i + 1) & now->mask) {
                const entry& each = now->entries[i];
                const tagged_address key = each.key.load(std::memory_order_acquire);
                if (((key ^ address) << 16) == 0) [[likely]]
                    return {key, each.rule};
                if (key == 0) break;
            }
        }
        return add(address, log);
    }

    /// Changes whenever what was learnt about addresses may no longer hold.
    std::uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

    /// To be called when libraries may have been unloaded.
    void forget_unloaded();

private:
    static constexpr tagged_address forgotten = ~tagged_address{0};

    struct entry {
        std::atomic<tagged_address> key;  // 0: empty
        unwind_rule rule;
    };
    struct table {
        std::size_t mask;
        unsigned shift;
        std::size_t used;
        entry entries[];
    };

    [[gnu::noinline]] result add(std::uintptr_t address, log_file& log);
    static table* make_table(unsigned bits);
    static void insert(table& into, tagged_address key, unwind_rule rule);
    table* table_with_room();
    void forget_entries();

    std::atomic<table*> table_;
    std::atomic<std::uint32_t> epoch_;
    spin_lock changing_;
    module_list modules_;
};

}  // namespace acre::recorder
