// What each call stack of a run allocated, with the stacks labelled as a format shows them.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/model.hpp"
#include "trace/reader.hpp"
#include "usage.hpp"

namespace acre::tool {

/// The stacks of a run's events as a tree of labels; a label is what a format shows of a frame, such as its functions.
/// Stacks with equal labels share a node. Node 0 is the root; label 0 means that the stack is not known.
class label_tree {
public:
    /// Appends the labels of a frame, outermost first.
    using describe = std::function<void(std::uint32_t frame, std::vector<std::uint32_t>& labels)>;

    static constexpr std::uint32_t unknown = 0;

    /// The tables must outlive the tree.
    label_tree(const trace_tables& tables, describe labels_of);

    /// The node where the stack ends; made at the first request.
    std::uint32_t node(std::uint32_t stack);

    /// Visits the labels from the node to the root.
    template <typename Visit>
    void for_each_label(std::uint32_t node, Visit&& visit) const {
        for (; node != 0; node = nodes_[node].parent) visit(nodes_[node].label);
    }

private:
    struct tree_node {
        std::uint32_t parent = 0;
        std::uint32_t label = unknown;
        std::uint32_t depth = 0;
    };

    std::uint32_t child(std::uint32_t parent, std::uint32_t label);

    const trace_tables& tables_;
    describe labels_of_;
    std::vector<tree_node> nodes_;
    std::vector<std::uint32_t> node_of_stack_;                   // 0: not requested yet
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and label
};

/// Memory: proportional to the live objects and the trace's tables.
class stack_profile {
public:
    /// Reads all events.
    stack_profile(trace_reader& reader, label_tree::describe labels_of) : tree_{reader.tables(), std::move(labels_of)} {
        reader.for_each([&](const event& e) {
            if (e.allocates) {
                usage_.allocate(e, tree_.node(e.stack));
            } else {
                usage_.release(e);
            }
        });
        usage_.finish(reader.header().duration);
    }

    const label_tree& tree() const noexcept { return tree_; }
    const usage_table& totals() const noexcept { return usage_; }

    /// Calls `visit(node, usage)` for each stack that allocates, callers before callees.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t node = 0; node < usage_.by_key().size(); ++node) {
            if (usage_.of(node).allocated.count != 0) visit(node, usage_.of(node));
        }
    }

private:
    label_tree tree_;
    usage_table usage_;
};

}  // namespace acre::tool
