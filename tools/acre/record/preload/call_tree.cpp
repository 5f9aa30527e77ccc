#include "call_tree.hpp"

namespace acre::recorder {

call_tree::table* call_tree::make_table(unsigned bits) {
    const std::size_t count = std::size_t{1} << bits;
    auto* made = static_cast<table*>(take_pages(sizeof(table) + count * sizeof(entry)));
    if (made == nullptr) return nullptr;
    made->mask = count - 1;
    made->shift = 64 - bits;
    return made;
}

void call_tree::insert(table& into, std::uint32_t parent, tagged_address address, std::uint32_t node) {
    std::size_t i = place(parent, address) >> into.shift;
    while (into.entries[i].address.load(std::memory_order_relaxed) != 0) i = (i + 1) & into.mask;
    into.entries[i].parent = parent;
    into.entries[i].node = node;
    into.entries[i].address.store(address, std::memory_order_release);
    ++into.used;
}

/// A full table is replaced; another thread may still be reading it, so it is not given back.
call_tree::table* call_tree::table_with_room() {
    table* now = table_.load(std::memory_order_relaxed);
    if (now != nullptr && now->used * 2 <= now->mask) return now;
    const unsigned bits = now == nullptr ? 13 : 65 - now->shift;
    table* larger = make_table(bits);
    if (larger == nullptr) return nullptr;
    for (std::size_t i = 0; now != nullptr && i <= now->mask; ++i) {
        const entry& each = now->entries[i];
        const tagged_address address = each.address.load(std::memory_order_relaxed);
        if (address != 0) insert(*larger, each.parent, address, each.node);
    }
    table_.store(larger, std::memory_order_release);
    return larger;
}

std::uint32_t call_tree::find_on_path(std::uint32_t node, tagged_address address) const {
    while (node != 0 && nodes_[node - 1].address != address) node = nodes_[node - 1].parent;
    return node;
}

bool call_tree::make_room_for_node() {
    if (count_ < capacity_) return true;
    if (count_ >= node_limit) return false;
    const std::uint32_t capacity = capacity_ == 0 ? 1u << 12 : capacity_ * 2;
    auto* larger = static_cast<tree_node*>(take_pages(capacity * sizeof(tree_node)));
    if (larger == nullptr) return false;
    if (nodes_ != nullptr) {
        std::memcpy(static_cast<void*>(larger), nodes_, count_ * sizeof(tree_node));
        system_call(__NR_munmap, nodes_, capacity_ * sizeof(tree_node));
    }
    nodes_ = larger;
    capacity_ = capacity;
    return true;
}

bool call_tree::write_node(std::uint32_t parent, tagged_address address, log_file& log) {
    constexpr std::uint64_t fitting = (log_file::chunk_bytes - sizeof(raw::chunk_head)) / sizeof(raw::node);
    if (chunk_ == nullptr) {
        chunk_ = log.map_chunk();
        if (chunk_ == nullptr) return false;
        log_file::begin_chunk(chunk_, raw::chunk_kind::nodes, 0, 1);
    }
    if (chunk_->count.load(std::memory_order_relaxed) == fitting && !log.flush(chunk_, sizeof(raw::node))) return false;
    const std::uint64_t at = chunk_->count.load(std::memory_order_relaxed);
    reinterpret_cast<raw::node*>(chunk_ + 1)[at] = {address << 16 >> 16, parent,
                                                    static_cast<std::uint32_t>(address >> 48)};
    chunk_->count.store(at + 1, std::memory_order_release);
    return true;
}

std::uint32_t call_tree::make_node(std::uint32_t parent, tagged_address address, log_file& log) {
    if (!make_room_for_node() || !write_node(parent, address, log)) return parent;
    nodes_[count_++] = {address, parent};
    return count_;
}

std::uint32_t call_tree::add(std::uint32_t parent, tagged_address address, log_file& log) {
    const lock_guard guard{changing_};
    table* into = table_with_room();
    if (into == nullptr) return parent;
    for (std::size_t i = place(parent, address) >> into->shift;; i = (i + 1) & into->mask) {
        const entry& each = into->entries[i];
        const tagged_address key = each.address.load(std::memory_order_relaxed);
        if (key == address && each.parent == parent) return each.node;
        if (key == 0) break;
    }
    std::uint32_t node = find_on_path(parent, address);
    if (node == 0) node = make_node(parent, address, log);
    insert(*into, parent, address, node);
    return node;
}

}  // namespace acre::recorder
