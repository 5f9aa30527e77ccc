// One frame of the battle: soldiers look around, decide, walk and shoot; arrows fly and hit; the dead are replaced.
#include "battle.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace game {
namespace {

constexpr int army_size = 2500;
constexpr int think_every = 5;  // in frames
constexpr int cell_shift = 3;   // a cell of the grid is 8 x 8 tiles
constexpr int cells = field::side >> cell_shift;
constexpr std::size_t max_sightings = 24;
constexpr int arrow_flight = 10;  // in frames, approximately
constexpr int full_health = 100;

constexpr std::array<std::string_view, 4> orc_names{"Ugluk of the White Hand", "Gorbag of Minas Morgul",
                                                    "Shagrat of Cirith Ungol", "Bolg son of Azog"};
constexpr std::array<std::string_view, 4> elf_names{"Legolas of the Woodland Realm", "Glorfindel of Rivendell",
                                                    "Haldir of Lothlorien", "Elrohir son of Elrond"};

int cell_of(tile t) {
    return (t.y >> cell_shift) * cells + (t.x >> cell_shift);
}

int distance(position a, position b) {
    return std::abs(a.x - b.x) + std::abs(a.y - b.y);
}

std::size_t as_index(int index) {
    return static_cast<std::size_t>(index);
}

bool nearer(const sighting& a, const sighting& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
}

}  // namespace

battle::battle(std::uint64_t seed) : random_{seed}, field_{random_} {
    recruit_armies();
}

battle::~battle() {
    for (arrow* each : arrows_) delete each;
    for (soldier* each : orcs_) delete each;
    for (soldier* each : elves_) delete each;
}

void battle::simulate_frame() {
    recruit_armies();
    place_on_grid(orcs_, orc_grid_);
    place_on_grid(elves_, elf_grid_);
    {
        auto orders = frame_memory_.make_vector<order>();
        give_orders(orcs_, orders);
        give_orders(elves_, orders);
        carry_out(orders);
        shoot_arrows(orcs_);
        shoot_arrows(elves_);
        auto combat_text = frame_memory_.make_vector<frame_string>();
        fly_arrows(combat_text);
        show(combat_text);
    }
    bury_the_dead(orcs_);
    bury_the_dead(elves_);
    frame_memory_.end_of_frame();
    ++frame_;
}

result battle::finish() {
    for (const soldier* each : orcs_) add_to_checksum(static_cast<std::uint64_t>(each->at.x * 31 + each->at.y));
    for (const soldier* each : elves_) add_to_checksum(static_cast<std::uint64_t>(each->health));
    for (const arrow* each : arrows_) add_to_checksum(static_cast<std::uint64_t>(each->at.x ^ each->at.y));
    for (const std::string& entry : quest_log_) {
        for (const char c : entry) add_to_checksum(static_cast<unsigned char>(c));
    }
    return {checksum_, arrows_shot_, soldiers_killed_, quest_log_.size()};
}

void battle::recruit_armies() {
    while (orcs_.size() < army_size) recruit_soldier(army::orcs);
    while (elves_.size() < army_size) recruit_soldier(army::elves);
}

// Orcs come from the west, elves from the east, both spread over their half of the field.
void battle::recruit_soldier(army side) {
    const int half = field::side / 2;
    const int column = side == army::orcs ? random_.below(half) : half + random_.below(half);
    const auto& names = side == army::orcs ? orc_names : elf_names;
    auto* fresh = new soldier{.side = side,
                              .id = next_id_++,
                              .name = std::string{names[as_index(random_.below(4))]},
                              .at = {column * 256 + 128, random_.below(field::side) * 256 + 128},
                              .health = full_health,
                              .arrows_left = random_.between(20, 60),
                              .target = -1};
    army_of(side).push_back(fresh);
}

void battle::place_on_grid(const soldiers& all, grid& where) {
    where.first_in_cell.assign(cells * cells, -1);
    where.next.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        int& first = where.first_in_cell[as_index(cell_of(all[i]->at.on()))];
        where.next[i] = std::exchange(first, static_cast<int>(i));
    }
}

// Returns some enemies in the surrounding cells, nearest first.
frame_vector<sighting> battle::look_around(const soldier& who) {
    auto seen = frame_memory_.make_vector<sighting>();
    const int column = who.at.on().x >> cell_shift;
    const int row = who.at.on().y >> cell_shift;
    for (int y = std::max(0, row - 1); y <= std::min(cells - 1, row + 1); ++y) {
        for (int x = std::max(0, column - 1); x <= std::min(cells - 1, column + 1); ++x) {
            look_into_cell(y * cells + x, who, seen);
        }
    }
    std::sort(seen.begin(), seen.end(), nearer);
    return seen;
}

void battle::look_into_cell(int cell, const soldier& who, frame_vector<sighting>& seen) {
    const grid& enemies = who.side == army::orcs ? elf_grid_ : orc_grid_;
    for (int i = enemies.first_in_cell[as_index(cell)]; i >= 0 && seen.size() < max_sightings;
         i = enemies.next[as_index(i)]) {
        seen.push_back({i, distance(who.at, enemies_of(who.side)[as_index(i)]->at)});
    }
}

// Chooses mostly the nearest enemy, and sometimes another.
void battle::choose_target(soldier& who) {
    const auto seen = look_around(who);
    if (seen.empty()) {
        who.target = random_.below(army_size);
        return;
    }
    const int bravery = random_.below(3);
    who.target = seen[std::min(seen.size() - 1, as_index(bravery))].index;
}

void battle::give_orders(soldiers& all, frame_vector<order>& orders) {
    for (soldier* each : all) {
        if ((each->id + frame_) % think_every == 0) orders.push_back(decide(*each));
    }
}

order battle::decide(soldier& who) {
    choose_target(who);
    const soldier& enemy = *enemies_of(who.side)[as_index(who.target)];
    return {&who, field_.find_path(who.at.on(), enemy.at.on(), frame_memory_), battle_cry(who, enemy)};
}

frame_string battle::battle_cry(const soldier& who, const soldier& enemy) {
    auto cry = frame_memory_.make_string();
    cry += who.name;
    cry += who.side == army::orcs ? " roars at " : " sings of ";
    cry += enemy.name;
    return cry;
}

void battle::carry_out(const frame_vector<order>& orders) {
    for (const order& each : orders) {
        add_to_checksum(each.cry.size() + static_cast<std::uint64_t>(each.who->id));
        if (each.path.empty()) continue;
        const std::size_t steps = std::min<std::size_t>(each.path.size(), 2);
        const tile to = each.path[steps - 1];
        each.who->at = {to.x * 256 + 128, to.y * 256 + 128};
    }
}

// An elf shoots two arrows a frame and an orc one, until the quiver is empty; then it is refilled.
void battle::shoot_arrows(soldiers& all) {
    for (soldier* each : all) {
        if (each->target < 0) continue;
        if (each->arrows_left <= 0) {
            each->arrows_left = random_.between(20, 60);
            continue;
        }
        const soldier& enemy = *enemies_of(each->side)[as_index(each->target)];
        for (int i = each->side == army::elves ? 2 : 1; i > 0; --i) shoot_arrow(*each, enemy);
    }
}

void battle::shoot_arrow(soldier& who, const soldier& enemy) {
    const int frames = random_.between(arrow_flight / 2, arrow_flight * 3 / 2);
    const position speed{(enemy.at.x - who.at.x) / frames, (enemy.at.y - who.at.y) / frames};
    const int damage = random_.between(1, who.side == army::elves ? 5 : 9);
    arrows_.push_back(new arrow{.at = who.at,
                                .speed = speed,
                                .shot_by = who.side,
                                .damage = damage,
                                .frames_left = frames,
                                .target = who.target});
    --who.arrows_left;
    ++arrows_shot_;
}

// Removes a landed arrow by moving the last one into its index.
void battle::fly_arrows(frame_vector<frame_string>& combat_text) {
    for (std::size_t i = 0; i < arrows_.size();) {
        if (fly_arrow(*arrows_[i], combat_text)) {
            ++i;
            continue;
        }
        delete arrows_[i];
        arrows_[i] = arrows_.back();
        arrows_.pop_back();
    }
}

// Returns false when the arrow has landed.
bool battle::fly_arrow(arrow& each, frame_vector<frame_string>& combat_text) {
    each.at.x += each.speed.x;
    each.at.y += each.speed.y;
    if (--each.frames_left > 0) return true;
    soldier& enemy = *enemies_of(each.shot_by)[as_index(each.target)];
    if (enemy.health > 0 && distance(enemy.at, each.at) < 3 * 256) {
        enemy.health -= each.damage;
        combat_text.push_back(describe_hit(enemy, each.damage));
    }
    return false;
}

frame_string battle::describe_hit(const soldier& enemy, int damage) {
    auto text = frame_memory_.make_string();
    text += enemy.name;
    text += " is hit: -";
    text += static_cast<char>('0' + damage);
    return text;
}

// There is no screen: the checksum takes what it would show.
void battle::show(const frame_vector<frame_string>& combat_text) {
    for (const frame_string& text : combat_text) add_to_checksum(static_cast<unsigned char>(text.back()) + text.size());
}

void battle::bury_the_dead(soldiers& all) {
    for (std::size_t i = 0; i < all.size();) {
        if (all[i]->health > 0) {
            ++i;
            continue;
        }
        ++soldiers_killed_;
        if (soldiers_killed_ % 16 == 0) write_quest_log(*all[i]);
        delete all[i];
        all[i] = all.back();
        all.pop_back();
    }
}

void battle::write_quest_log(const soldier& dead) {
    std::string entry = dead.name;
    entry += dead.side == army::orcs ? " was slain; the river runs black" : " fell; sing no songs tonight";
    quest_log_.push_back(std::move(entry));
}

void battle::add_to_checksum(std::uint64_t value) {
    checksum_ = (checksum_ ^ value) * 1099511628211ULL;
}

}  // namespace game
