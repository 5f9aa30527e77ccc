// What each function on each call path allocated, itself and in its callees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/call_paths.hpp"

namespace acre::tool {

/// What the width of a function in the graph shows.
enum class flame_weight : std::uint8_t {
    bytes,        // allocated
    allocations,  // number of allocations
    lifetime,     // nanoseconds, summed over the objects
    peak_bytes,   // live at the peak
    lost_bytes,   // never freed
};
inline constexpr std::size_t flame_weights = 5;

const char* name_of(flame_weight weight);

/// A function on a call path; the root is the program.
struct flame_node {
    std::uint32_t parent = 0;                     // position in the graph; 0 for the root
    std::uint32_t function = 0;                   // in call_paths::functions()
    std::array<double, flame_weights> weights{};  // including its callees
};

class flame_graph {
public:
    /// The paths must outlive it.
    explicit flame_graph(const call_paths& paths);

    void allocate(std::uint32_t node, std::uint64_t size);
    void release(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime);
    void lose(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime);

    /// Must be called at the peak of live bytes.
    void note_peak();

    /// The nodes to show, parents before children: at most `max_nodes`, each with at least `min_share` of some weight.
    std::vector<flame_node> finish(double min_share, std::size_t max_nodes);

private:
    using weights = std::array<double, flame_weights>;

    double& at(std::uint32_t node, flame_weight which) { return own_[node][static_cast<std::size_t>(which)]; }
    void add_calls_to_callers();
    double share_of(std::size_t node) const;
    std::vector<std::uint32_t> nodes_to_show(double min_share, std::size_t max_nodes) const;

    const call_paths& paths_;
    std::vector<weights> own_;               // by node of the paths
    std::vector<std::uint64_t> live_bytes_;  // the same
};

}  // namespace acre::tool
