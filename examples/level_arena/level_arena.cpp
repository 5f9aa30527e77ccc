// An arena per level of a game: orcs, elves, their names and lists come from one arena, which frees them all at once.
//
// It shows objects with destructors, arrays and copied texts in an arena, and a scratch for the temporaries of a turn.
// The arena keeps its blocks, so later levels take nothing from the heap. Copy it where many objects of several types
// live exactly as long as a level, a document, a request or a frame.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The level files: name, number of soldiers, and for each soldier people, name and strength.
constexpr const char* level_files[] = {
    "Moria 5  orc Ugluk 12  orc Bolg 9  orc Azog 14  elf Legolas 18  elf Tauriel 16",
    "Helm's_Deep 4  orc Lurtz 20  orc Grishnakh 8  orc Snaga 5  elf Haldir 17",
    "Lorien 3  orc Gorbag 11  elf Galadriel 30  elf Celeborn 15",
};

// Owns memory, so its destructor must run: the arena calls it at reset.
class soldier {
public:
    static inline int living_objects = 0;

    soldier(bool is_orc, std::string_view name, int strength) : is_orc_(is_orc), name_(name), strength_(strength) {
        ++living_objects;
    }
    soldier(const soldier&) = delete;
    soldier& operator=(const soldier&) = delete;
    ~soldier() { --living_objects; }

    bool is_orc() const { return is_orc_; }
    std::string_view name() const { return name_; }
    int strength() const { return strength_; }
    bool stands() const { return std::accumulate(wounds_.begin(), wounds_.end(), 0) < strength_; }
    void strike(soldier& enemy) const { enemy.wounds_.push_back(1 + strength_ / 4); }

private:
    bool is_orc_;
    std::string_view name_;  // in the level's arena
    int strength_;
    std::vector<int> wounds_;
};

// Needs no destructor, because it points only into the arena.
struct level {
    std::string_view name;
    std::span<soldier*> soldiers;
};

level load(const char* file, acre::arena& memory) {
    std::istringstream input{file};
    std::string word;  // overwritten by each word, so kept words are copied
    std::size_t count = 0;
    input >> word >> count;
    level loaded{memory.copy(word), memory.allocate<soldier*>(count)};
    for (soldier*& each : loaded.soldiers) {
        std::string people;
        int strength = 0;
        input >> people >> word >> strength;
        each = memory.create<soldier>(people == "orc", memory.copy(word), strength);
    }
    return loaded;
}

// Each standing soldier, the strongest first, strikes the first standing enemy. False when nobody struck.
bool play_turn(const level& played, acre::arena& memory) {
    acre::scratch temp{memory};  // frees this turn's list
    std::span<soldier*> order = temp.allocate<soldier*>(played.soldiers.size());
    const auto end = std::ranges::copy_if(played.soldiers, order.begin(), &soldier::stands).out;
    order = order.first(static_cast<std::size_t>(end - order.begin()));
    std::ranges::sort(order, std::greater{}, &soldier::strength);
    bool anyone_struck = false;
    for (const soldier* striking : order) {
        const auto enemy = std::ranges::find_if(
            order, [&](const soldier* each) { return each->is_orc() != striking->is_orc() && each->stands(); });
        if (!striking->stands() || enemy == order.end()) continue;
        striking->strike(**enemy);
        anyone_struck = true;
    }
    return anyone_struck;
}

// The names of the soldiers still standing, in one line.
std::string_view survivors(const level& played, acre::arena& memory) {
    std::string_view line = "";
    for (const soldier* each : played.soldiers) {
        if (each->stands()) line = memory.format("%s %s", line.data(), each->name().data());
    }
    return line;
}

}  // namespace

int main() {
    acre::arena memory;  // takes no memory yet
    std::size_t capacity_of_first = 0;
    for (const char* file : level_files) {
        const level played = load(file, memory);
        std::printf("%s: %zu soldiers", played.name.data(), played.soldiers.size());
        int turns = 0;
        while (play_turn(played, memory)) ++turns;
        {
            acre::scratch temp{memory};
            std::printf(", turns: %d, who remains:%s\n", turns, survivors(played, temp.parent()).data());
        }
        memory.reset();  // the end of the level: runs all destructors, newest first, and frees everything
        std::printf("  after it: %d soldiers, %zu bytes used\n", soldier::living_objects, memory.used());
        if (capacity_of_first == 0) capacity_of_first = memory.capacity();
    }
    std::printf("Later levels took %zu bytes from the heap.\n", memory.capacity() - capacity_of_first);
    return 0;
}
