// The battle: who is on the field, and what happens in a frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "field.hpp"
#include "memory.hpp"
#include "random.hpp"

namespace game {

enum class army : std::uint8_t { orcs, elves };

// Positions are integers in units of 1/256 tile, so every machine computes the same battle.
struct position {
    int x;
    int y;

    tile on() const { return {x >> 8, y >> 8}; }
};

struct soldier {
    army side;
    int id;
    std::string name;
    position at;
    int health;
    int arrows_left;
    int target;  // index in the other army, -1 for none
};

struct arrow {
    GAME_POOLED(arrow);

    position at;
    position speed;  // per frame
    army shot_by;
    int damage;
    int frames_left;
    int target;
};

struct sighting {
    int index;
    int distance;
};

// A soldier's decision for this frame.
struct order {
    soldier* who;
    frame_vector<tile> path;
    frame_string cry;
};

struct result {
    std::uint64_t checksum;
    std::uint64_t arrows_shot;
    std::uint64_t soldiers_killed;
    std::size_t quests;
};

class battle {
public:
    explicit battle(std::uint64_t seed);
    ~battle();
    battle(const battle&) = delete;
    battle& operator=(const battle&) = delete;

    void simulate_frame();
    result finish();

private:
    using soldiers = std::vector<soldier*>;

    // Linked lists of an army's soldiers by cell: the first soldier of each cell, and the next one for each soldier.
    struct grid {
        std::vector<int> first_in_cell;
        std::vector<int> next;
    };

    soldiers& army_of(army side) { return side == army::orcs ? orcs_ : elves_; }
    soldiers& enemies_of(army side) { return side == army::orcs ? elves_ : orcs_; }

    void recruit_soldier(army side);
    void recruit_armies();
    static void place_on_grid(const soldiers& all, grid& where);
    frame_vector<sighting> look_around(const soldier& who);
    void look_into_cell(int cell, const soldier& who, frame_vector<sighting>& seen);
    void choose_target(soldier& who);
    void give_orders(soldiers& all, frame_vector<order>& orders);
    order decide(soldier& who);
    frame_string battle_cry(const soldier& who, const soldier& enemy);
    void carry_out(const frame_vector<order>& orders);
    void shoot_arrows(soldiers& all);
    void shoot_arrow(soldier& who, const soldier& enemy);
    void fly_arrows(frame_vector<frame_string>& combat_text);
    void show(const frame_vector<frame_string>& combat_text);
    bool fly_arrow(arrow& each, frame_vector<frame_string>& combat_text);
    frame_string describe_hit(const soldier& enemy, int damage);
    void bury_the_dead(soldiers& all);
    void write_quest_log(const soldier& dead);
    void add_to_checksum(std::uint64_t value);

    random_numbers random_;
    field field_;
    int frame_ = 0;
    int next_id_ = 0;

    frame_memory frame_memory_;

    soldiers orcs_;
    soldiers elves_;
    std::vector<arrow*> arrows_;
    std::vector<std::string> quest_log_;

    grid orc_grid_;
    grid elf_grid_;

    std::uint64_t checksum_ = 14695981039346656037ULL;
    std::uint64_t arrows_shot_ = 0;
    std::uint64_t soldiers_killed_ = 0;
};

}  // namespace game
