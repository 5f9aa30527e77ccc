#include "stack_profile.hpp"

#include "trace/error.hpp"

namespace acre::tool {

namespace {

// Both are far above what a recording has. A deeper call counts as its caller; a trace with more nodes is refused.
constexpr std::uint32_t max_depth = 4096;
constexpr std::size_t max_nodes = std::size_t{1} << 23;

}  // namespace

label_tree::label_tree(const trace_tables& tables, describe labels_of)
    : tables_{tables}, labels_of_{std::move(labels_of)}, nodes_(1), node_of_stack_(tables.call_tree.size()) {}

std::uint32_t label_tree::node(std::uint32_t stack) {
    if (node_of_stack_[stack] != 0) return node_of_stack_[stack];
    if (stack == no_stack) return node_of_stack_[stack] = child(0, unknown);
    std::vector<std::uint32_t> fresh;
    std::uint32_t known = stack;
    for (; known != no_stack && node_of_stack_[known] == 0; known = tables_.call_tree[known].parent) {
        fresh.push_back(known);
    }
    std::uint32_t at = known == no_stack ? 0 : node_of_stack_[known];
    std::vector<std::uint32_t> labels;
    for (; !fresh.empty(); fresh.pop_back()) {
        labels.clear();
        labels_of_(tables_.call_tree[fresh.back()].frame, labels);
        for (const std::uint32_t label : labels) at = child(at, label);
        node_of_stack_[fresh.back()] = at;
    }
    return at;
}

std::uint32_t label_tree::child(std::uint32_t parent, std::uint32_t label) {
    const std::uint32_t depth = nodes_[parent].depth;
    if (depth == max_depth) return parent;
    const auto [entry, added] =
        children_.try_emplace(std::uint64_t{parent} << 32 | label, static_cast<std::uint32_t>(nodes_.size()));
    if (added) {
        if (nodes_.size() == max_nodes)
            throw tool_error{"the trace has more than 8 million different stacks, which no recording has"};
        nodes_.push_back({parent, label, depth + 1});
    }
    return entry->second;
}

}  // namespace acre::tool
