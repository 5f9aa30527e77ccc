#include "flame_graph.hpp"

#include <algorithm>

namespace acre::tool {

const char* name_of(flame_weight weight) {
    switch (weight) {
        case flame_weight::bytes:
            return "bytes";
        case flame_weight::allocations:
            return "allocations";
        case flame_weight::lifetime:
            return "lifetime_ns";
        case flame_weight::peak_bytes:
            return "peak_bytes";
        case flame_weight::lost_bytes:
            return "lost_bytes";
    }
    return "";
}

flame_graph::flame_graph(const call_paths& paths)
    : paths_{paths}, own_(paths.nodes().size()), live_bytes_(paths.nodes().size()) {}

void flame_graph::allocate(std::uint32_t node, std::uint64_t size) {
    at(node, flame_weight::bytes) += static_cast<double>(size);
    at(node, flame_weight::allocations) += 1;
    live_bytes_[node] += size;
}

void flame_graph::release(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime) {
    at(node, flame_weight::lifetime) += static_cast<double>(lifetime);
    live_bytes_[node] -= size;
}

void flame_graph::lose(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime) {
    at(node, flame_weight::lifetime) += static_cast<double>(lifetime);
    at(node, flame_weight::lost_bytes) += static_cast<double>(size);
}

void flame_graph::note_peak() {
    for (std::uint32_t node = 0; node < own_.size(); ++node) {
        at(node, flame_weight::peak_bytes) = static_cast<double>(live_bytes_[node]);
    }
}

/// Callers have smaller numbers than their callees.
void flame_graph::add_calls_to_callers() {
    for (std::size_t node = own_.size(); --node > 0;) {
        weights& caller = own_[paths_.nodes()[node].parent];
        for (std::size_t i = 0; i < flame_weights; ++i) caller[i] += own_[node][i];
    }
}

double flame_graph::share_of(std::size_t node) const {
    double share = 0;
    for (std::size_t i = 0; i < flame_weights; ++i) {
        if (own_[0][i] > 0) share = std::max(share, own_[node][i] / own_[0][i]);
    }
    return share;
}

/// A caller has at least the share of each callee, so the result contains all callers.
std::vector<std::uint32_t> flame_graph::nodes_to_show(double min_share, std::size_t max_nodes) const {
    std::vector<std::pair<double, std::uint32_t>> found;
    for (std::uint32_t node = 0; node < own_.size(); ++node) {
        const double share = share_of(node);
        if (node == 0 || share >= min_share) found.emplace_back(share, node);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<std::uint32_t> nodes;
    for (std::size_t i = 0; i < std::min(max_nodes, found.size()); ++i) nodes.push_back(found[i].second);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

std::vector<flame_node> flame_graph::finish(double min_share, std::size_t max_nodes) {
    add_calls_to_callers();
    std::vector<flame_node> graph;
    std::vector<std::uint32_t> positions(own_.size());
    for (const std::uint32_t node : nodes_to_show(min_share, max_nodes)) {
        positions[node] = static_cast<std::uint32_t>(graph.size());
        const function_node& shown = paths_.nodes()[node];
        graph.push_back({positions[shown.parent], shown.function, own_[node]});
    }
    return graph;
}

}  // namespace acre::tool
