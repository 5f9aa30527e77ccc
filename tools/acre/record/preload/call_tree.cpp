#include "call_tree.hpp"

namespace acre::recorder {

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
        chunk_ = log.take_chunk();
        if (chunk_ == nullptr) return false;
        log_file::begin_chunk(chunk_, raw::chunk_kind::nodes, 0, 1);
    }
    if (chunk_->count.load(std::memory_order_relaxed) == fitting && !log.flush(chunk_, sizeof(raw::node))) return false;
    const bool is_innermost = (address & innermost_node) != 0;
    const std::uint64_t at = chunk_->count.load(std::memory_order_relaxed);
    reinterpret_cast<raw::node*>(chunk_ + 1)[at] = {address << 16 >> 16, parent,
                                                    module_of(address) | (is_innermost ? raw::innermost_bit : 0)};
    chunk_->count.store(at + 1, std::memory_order_release);
    return true;
}

std::uint32_t call_tree::make_node(std::uint32_t parent, tagged_address address, log_file& log) {
    if (!make_room_for_node() || !write_node(parent, address, log)) return parent;
    nodes_[count_++] = {address, parent, false};
    return count_;
}

void call_tree::note_recursion(std::uint32_t from, std::uint32_t back_to, tagged_address address, log_file& log) {
    bool is_news = false;
    for (std::uint32_t node = from;; node = nodes_[node - 1].parent) {
        is_news = is_news || !nodes_[node - 1].is_recursive;
        nodes_[node - 1].is_recursive = true;
        if (node == back_to) break;
    }
    if (is_news) make_node(from, address, log);
}

std::uint32_t call_tree::add_innermost(std::uint32_t node, tagged_address address, log_file& log) {
    const lock_guard guard{changing_};
    if (!entries_.make_room()) return node;
    if (const auto found = find(node, address); found.entry != nullptr) return found.entry->node;
    const std::uint32_t parent = nodes_[node - 1].parent;
    std::uint32_t made = make_node(parent, address, log);
    if (made == parent) made = node;  // there is no room for it
    entries_.add(address, {node, made});
    return made;
}

std::uint32_t call_tree::add(std::uint32_t parent, tagged_address address, log_file& log) {
    const lock_guard guard{changing_};
    if (!entries_.make_room()) return parent;
    // Another thread may have added it meanwhile.
    if (const auto found = find(parent, address); found.entry != nullptr) return found.entry->node;
    std::uint32_t node = find_on_path(parent, address);
    if (node == 0) {
        node = make_node(parent, address, log);
    } else {
        note_recursion(parent, node, address, log);
    }
    entries_.add(address, {parent, node});
    return node;
}

}  // namespace acre::recorder
