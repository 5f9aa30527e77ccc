// Call stacks as a tree: a node is a return address and its parent node. The innermost node identifies a stack. The
// tree is read without a lock; new nodes are written to the log.
//
// Recursion is folded: a return address that is already on the path leads back to its node. So a stack has each address
// once, and its depth does not depend on the data. The call that was folded gets a node, too, where it is the first to
// tell that one of the calls between is recursive: no stack has it, but a reader sees by it which functions are.
//
// A function may end with a jump to malloc or free, which takes its own frame from the stack: the innermost address is
// then that of the call of the function. As such it has a node of its own, beside the one that is the parent of what
// the function calls otherwise. So a reader can add the function to the one and not to the other.
#pragma once

#include "log_file.hpp"
#include "published_table.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is a tree of only the root, number 0.
class call_tree {
public:
    std::uint32_t child(std::uint32_t parent, tagged_address address, log_file& log) {
        const auto found = find(parent, address);
        if (found.entry != nullptr) [[likely]]
            return found.entry->node;
        return add(parent, address, log);
    }

    /// The node of a stack whose innermost address has this node.
    std::uint32_t innermost_of(std::uint32_t node, tagged_address address, log_file& log) {
        if ((address & calls_own_module) == 0 || node == 0) [[likely]]
            return node;
        const auto found = find(node, address | innermost_node);
        return found.entry != nullptr ? found.entry->node : add_innermost(node, address | innermost_node, log);
    }

private:
    static constexpr std::uint32_t node_limit = (1u << 24) - 2;  // limit of a trace

    struct entry {
        std::uint32_t parent;
        std::uint32_t node;

        static std::uint64_t hash(tagged_address address, const entry& of) {
            return spread(address ^ (std::uint64_t{of.parent} << 20));
        }
    };
    struct tree_node {
        tagged_address address;
        std::uint32_t parent;
        bool is_recursive;  // and a node tells the reader so
    };

    published_table<entry>::hit find(std::uint32_t parent, tagged_address address) const {
        return entries_.find(entry::hash(address, {parent, 0}), [&](tagged_address key, const entry& each) {
            return key == address && each.parent == parent;
        });
    }

    [[gnu::noinline]] std::uint32_t add(std::uint32_t parent, tagged_address address, log_file& log);
    [[gnu::noinline]] std::uint32_t add_innermost(std::uint32_t node, tagged_address address, log_file& log);
    std::uint32_t find_on_path(std::uint32_t node, tagged_address address) const;
    void note_recursion(std::uint32_t from, std::uint32_t back_to, tagged_address address, log_file& log);
    std::uint32_t make_node(std::uint32_t parent, tagged_address address, log_file& log);
    bool write_node(std::uint32_t parent, tagged_address address, log_file& log);
    bool make_room_for_node();

    published_table<entry> entries_;
    spin_lock changing_;
    tree_node* nodes_;
    std::uint32_t count_;  // without the root
    std::uint32_t capacity_;
    raw::chunk_head* chunk_;
};

}  // namespace acre::recorder
