// Call stacks as a tree: a node is a return address called from another node. A stack is the number of its innermost
// node. Read without a lock; new nodes go into the log.
//
// Recursion is folded: a return address that is already on the path leads back to the node where it is, so that a stack
// has each address once and its depth does not depend on the data.
#pragma once

#include "log_file.hpp"
#include "rule_table.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is a tree of the root alone, number 0.
class call_tree {
public:
    std::uint32_t child(std::uint32_t parent, tagged_address address, log_file& log) {
        if (const table* now = table_.load(std::memory_order_acquire)) [[likely]] {
            for (std::size_t i = place(parent, address) >> now->shift;; i = (i + 1) & now->mask) {
                const entry& each = now->entries[i];
                const tagged_address key = each.address.load(std::memory_order_acquire);
                if (key == address && each.parent == parent) [[likely]]
                    return each.node;
                if (key == 0) break;
            }
        }
        return add(parent, address, log);
    }

private:
    static constexpr std::uint32_t node_limit = (1u << 24) - 2;  // what a trace holds

    struct entry {
        std::atomic<tagged_address> address;  // 0: empty
        std::uint32_t parent;
        std::uint32_t node;
    };
    struct table {
        std::size_t mask;
        unsigned shift;
        std::size_t used;
        entry entries[];
    };
    struct tree_node {
        tagged_address address;
        std::uint32_t parent;
    };

    static std::uint64_t place(std::uint32_t parent, tagged_address address) {
        return spread(address ^ (std::uint64_t{parent} << 20));
    }

    [[gnu::noinline]] std::uint32_t add(std::uint32_t parent, tagged_address address, log_file& log);
    std::uint32_t find_on_path(std::uint32_t node, tagged_address address) const;
    std::uint32_t make_node(std::uint32_t parent, tagged_address address, log_file& log);
    bool write_node(std::uint32_t parent, tagged_address address, log_file& log);
    bool make_room_for_node();
    static table* make_table(unsigned bits);
    static void insert(table& into, std::uint32_t parent, tagged_address address, std::uint32_t node);
    table* table_with_room();

    std::atomic<table*> table_;
    spin_lock changing_;
    tree_node* nodes_;
    std::uint32_t count_;  // without the root
    std::uint32_t capacity_;
    raw::chunk_head* chunk_;
};

}  // namespace acre::recorder
