#include "rule_table.hpp"

namespace acre::recorder {

unwind_rule rule_table::rule_of(std::uintptr_t address, const void* header) const {
    if (frame_pointers_) return frame_pointer_rule;
    return header != nullptr ? find_unwind_rule(header, address) : unwind_rule{};
}

rule_table::result rule_table::add(std::uintptr_t address, log_file& log) {
    const lock_guard guard{changing_};
    const void* header = nullptr;
    bool changed = false;
    const std::uint32_t module = modules_.find(address - 1, log, header, changed);
    if (changed) forget_entries();
    // Code outside modules comes and goes unseen, so nothing is remembered about it.
    if (module == 0) return {address << 16 >> 16, {}};
    const result found{address | std::uint64_t{module} << 48, rule_of(address, header)};
    if (rules_.make_room()) rules_.add(found.address, {found.rule});
    return found;
}

void rule_table::forget_unloaded() {
    const lock_guard guard{changing_};
    if (modules_.forget_unloaded()) forget_entries();
}

void rule_table::forget_entries() {
    rules_.forget_unless([&](tagged_address key) { return modules_.loaded(static_cast<std::uint32_t>(key >> 48)); });
    epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace acre::recorder
