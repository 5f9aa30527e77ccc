#include "rule_table.hpp"

namespace acre::recorder {

rule_table::table* rule_table::make_table(unsigned bits) {
    const std::size_t count = std::size_t{1} << bits;
    auto* made = static_cast<table*>(take_pages(sizeof(table) + count * sizeof(entry)));
    if (made == nullptr) return nullptr;
    made->mask = count - 1;
    made->shift = 64 - bits;
    return made;
}

void rule_table::insert(table& into, tagged_address key, unwind_rule rule) {
    const std::uint64_t address = key << 16 >> 16;
    std::size_t i = spread(address) >> into.shift;
    while (into.entries[i].key.load(std::memory_order_relaxed) != 0) i = (i + 1) & into.mask;
    into.entries[i].rule = rule;
    into.entries[i].key.store(key, std::memory_order_release);
    ++into.used;
}

/// A full table is replaced; another thread may still be reading it, so it is not given back.
rule_table::table* rule_table::table_with_room() {
    table* now = table_.load(std::memory_order_relaxed);
    if (now != nullptr && now->used * 2 <= now->mask) return now;
    const unsigned bits = now == nullptr ? 13 : 65 - now->shift;
    table* larger = make_table(bits);
    if (larger == nullptr) return nullptr;
    for (std::size_t i = 0; now != nullptr && i <= now->mask; ++i) {
        const tagged_address key = now->entries[i].key.load(std::memory_order_relaxed);
        if (key != 0 && key != forgotten) insert(*larger, key, now->entries[i].rule);
    }
    table_.store(larger, std::memory_order_release);
    return larger;
}

rule_table::result rule_table::add(std::uintptr_t address, log_file& log) {
    const lock_guard guard{changing_};
    const void* header = nullptr;
    bool changed = false;
    const std::uint32_t module = modules_.find(address - 1, log, header, changed);
    if (changed) forget_entries();
    // Code outside modules comes and goes unseen, so nothing is remembered about it.
    if (module == 0) return {address, {}};
    const result found{address | std::uint64_t{module} << 48,
                       header != nullptr ? find_unwind_rule(header, address) : unwind_rule{}};
    if (table* into = table_with_room()) insert(*into, found.address, found.rule);
    return found;
}

void rule_table::forget_unloaded() {
    const lock_guard guard{changing_};
    if (modules_.forget_unloaded()) forget_entries();
}

void rule_table::forget_entries() {
    table* now = table_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; now != nullptr && i <= now->mask; ++i) {
        const tagged_address key = now->entries[i].key.load(std::memory_order_relaxed);
        if (key == 0 || key == forgotten || modules_.loaded(static_cast<std::uint32_t>(key >> 48))) continue;
        now->entries[i].key.store(forgotten, std::memory_order_release);
    }
    epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace acre::recorder
