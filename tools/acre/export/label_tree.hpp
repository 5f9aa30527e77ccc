// The stacks that a run's events have, as a tree of labels: what a format shows of a frame, such as its functions.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/model.hpp"

namespace acre::tool {

/// Stacks that read alike are one node. Node 0 is the root; label 0 stands for "no stack known".
class label_tree {
public:
    /// Appends the labels of a frame, the outermost first.
    using describe = std::function<void(std::uint32_t frame, std::vector<std::uint32_t>& labels)>;

    static constexpr std::uint32_t unknown = 0;

    /// The tables must live longer.
    label_tree(const trace_tables& tables, describe labels_of);

    /// Where the stack ends; made when it is first asked for.
    std::uint32_t node(std::uint32_t stack);

    /// The labels from the node outwards.
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
    std::vector<std::uint32_t> node_of_stack_;                   // 0: not asked for yet
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and label
};

}  // namespace acre::tool
