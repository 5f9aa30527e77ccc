// Finds paths on the battlefield: A* in a small window around the start, which is as far as a soldier plans.
#include "field.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace game {
namespace {

constexpr int reach = 3;              // tiles to each side of the start
constexpr int width = 2 * reach + 1;  // of the window
constexpr std::size_t max_visits = 8;
constexpr std::array<tile, 4> directions{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

struct step {
    int cost;   // from the start
    int guess;  // estimated cost of the whole path
    tile at;
};

bool later(const step& a, const step& b) {
    return a.guess > b.guess;
}

int distance(tile a, tile b) {
    return std::abs(a.x - b.x) + std::abs(a.y - b.y);
}

// One search. It records from which direction each tile of the window was first reached.
class search {
public:
    search(const field& ground, tile from, tile to, frame_memory& memory)
        : ground_{ground},
          from_{from},
          to_{to},
          best_{from},
          open_{memory.make_vector<step>()},
          reached_{memory.make_vector<std::uint8_t>()} {
        reached_.resize(width * width, unreached);
        open_.reserve(16);
    }

    frame_vector<tile> path(frame_memory& memory) {
        explore();
        auto way = memory.make_vector<tile>();
        for (tile at = best_; at != from_; at = came_from(at)) way.push_back(at);
        std::reverse(way.begin(), way.end());
        return way;
    }

private:
    static constexpr std::uint8_t unreached = 255;

    bool in_window(tile t) const { return std::abs(t.x - from_.x) <= reach && std::abs(t.y - from_.y) <= reach; }

    std::uint8_t& reached(tile t) {
        return reached_[static_cast<std::size_t>((t.y - from_.y + reach) * width + (t.x - from_.x + reach))];
    }

    tile came_from(tile t) {
        const tile back = directions[reached(t)];
        return {t.x - back.x, t.y - back.y};
    }

    void explore() {
        open({0, distance(from_, to_), from_}, 0);
        for (std::size_t visits = 0; visits < max_visits && !open_.empty() && best_ != to_; ++visits) {
            std::pop_heap(open_.begin(), open_.end(), later);
            const step next = open_.back();
            open_.pop_back();
            if (distance(next.at, to_) < distance(best_, to_)) best_ = next.at;
            open_neighbours(next);
        }
    }

    void open_neighbours(const step& from) {
        for (std::size_t i = 0; i < directions.size(); ++i) {
            const tile at{from.at.x + directions[i].x, from.at.y + directions[i].y};
            if (!in_window(at) || !ground_.passable(at) || reached(at) != unreached) continue;
            open({from.cost + 1, from.cost + 1 + distance(at, to_), at}, static_cast<std::uint8_t>(i));
        }
    }

    void open(const step& next, std::uint8_t direction) {
        reached(next.at) = direction;
        open_.push_back(next);
        std::push_heap(open_.begin(), open_.end(), later);
    }

    const field& ground_;
    tile from_;
    tile to_;
    tile best_;
    frame_vector<step> open_;
    frame_vector<std::uint8_t> reached_;
};

}  // namespace

field::field(random_numbers& random) : trees_(side * side) {
    for (auto& tree : trees_) tree = random.below(100) < 12;
}

frame_vector<tile> field::find_path(tile from, tile to, frame_memory& memory) const {
    return search{*this, from, to, memory}.path(memory);
}

}  // namespace game
