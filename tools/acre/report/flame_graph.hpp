// What each function allocated, itself and through the functions that it called, on each path of calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/call_paths.hpp"

namespace acre::tool {

/// What the width of a function in the graph can stand for.
enum class flame_weight : std::uint8_t {
    bytes,        // allocated
    allocations,  // their number
    lifetime,     // nanoseconds that the objects lived, added up
    peak_bytes,   // alive when most bytes were
    lost_bytes,   // never freed
};
inline constexpr std::size_t flame_weights = 5;

const char* name_of(flame_weight weight);

/// A function on a path of calls; the root stands for the program.
struct flame_node {
    std::uint32_t parent = 0;                     // its position in the graph; the root's is 0
    std::uint32_t function = 0;                   // in call_paths::functions()
    std::array<double, flame_weights> weights{};  // with those of the calls below it
};

class flame_graph {
public:
    /// The paths must live longer.
    explicit flame_graph(const call_paths& paths);

    void allocate(std::uint32_t node, std::uint64_t size);
    void release(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime);
    void lose(std::uint32_t node, std::uint64_t size, std::uint64_t lifetime);

    /// Now most bytes are alive.
    void note_peak();

    /// The nodes that are worth showing, parents before children: at most `most` that hold `min_share` of something.
    std::vector<flame_node> finish(double min_share, std::size_t most);

private:
    using weights = std::array<double, flame_weights>;

    double& at(std::uint32_t node, flame_weight which) { return own_[node][static_cast<std::size_t>(which)]; }
    void add_calls_to_callers();
    double share_of(std::size_t node) const;
    std::vector<std::uint32_t> worth_showing(double min_share, std::size_t most) const;

    const call_paths& paths_;
    std::vector<weights> own_;               // by node of the paths
    std::vector<std::uint64_t> live_bytes_;  // the same
};

}  // namespace acre::tool
