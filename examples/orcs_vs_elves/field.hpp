// The battlefield: a grid of tiles, some with trees, and paths around them.
#pragma once

#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "random.hpp"

namespace game {

struct tile {
    int x;
    int y;

    friend bool operator==(const tile&, const tile&) = default;
};

class field {
public:
    static constexpr int side = 256;

    explicit field(random_numbers& random);

    static bool inside(tile t) { return t.x >= 0 && t.y >= 0 && t.x < side && t.y < side; }
    static std::size_t index(tile t) { return static_cast<std::size_t>(t.y * side + t.x); }
    bool passable(tile t) const { return inside(t) && !trees_[index(t)]; }

    // Returns the first steps of the path from one tile to another; empty when there is none nearby.
    frame_vector<tile> find_path(tile from, tile to, frame_memory& memory) const;

private:
    std::vector<std::uint8_t> trees_;
};

}  // namespace game
