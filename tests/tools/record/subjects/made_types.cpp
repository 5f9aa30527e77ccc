// Objects of types that the debug information tells, each of a size of its own.
#include <memory>
#include <string>

namespace game {

struct orc {  // no constructor
    int hits;
    char rest[1'236];
};

class elf {  // its constructor is inlined, and makes another object first
public:
    explicit elf(const char* name) : name_{name} {}
    int number() const { return static_cast<int>(name_.size()); }

private:
    std::string name_;
    [[maybe_unused]] char rest_[2'000];
};

struct troll {  // its constructor is called
    troll();
    virtual ~troll();
    char rest[3'000];
};
[[gnu::noinline]] troll::troll() {
    rest[0] = 1;
}
troll::~troll() = default;

struct large_troll final : troll {
    [[gnu::noinline]] large_troll() { more[0] = 1; }
    char more[1'000];
};

template <typename T>
struct wagon {
    wagon() : load{} {}
    T load;
    char rest[5'000];
};

// Pairs of one size each: the second is constructed after memory for the first is allocated.
struct goblin {  // no constructor
    int hits;
    char rest[8'996];
};
struct goblin_cave {
    explicit goblin_cave(int guests) : number{guests} { rest[0] = 1; }
    int number;
    char rest[8'996];
};

struct kobold {  // no constructor
    int hits;
    char rest[9'996];
};
struct kobold_cave {
    [[gnu::noinline]] explicit kobold_cave(int guests) : number{guests} { rest[0] = 1; }
    int number;
    char rest[9'996];
};

struct present {
    explicit present(int worth) : value{worth} { rest[0] = 1; }
    int value;
    char rest[10'996];
};
struct giant {
    explicit giant(const present& from) : wealth{from.value} { rest[0] = from.rest[0]; }
    int wealth;
    char rest[10'996];
};

struct stone_troll final : troll {  // its constructor is implicit
    char more[9'000];
};

}  // namespace game

template <typename T>
[[gnu::always_inline]] inline void keep(T* object) {
    asm volatile("" : "+r"(object) : : "memory");
}

int main(int number, char**) {
    game::orc* orc = new game::orc;
    keep(orc);
    delete orc;
    auto* elf = new game::elf{"a name that does not fit into the object"};
    keep(elf);
    delete elf;
    game::troll* troll = new game::troll;
    keep(troll);
    delete troll;
    troll = new game::large_troll;
    keep(troll);
    delete troll;
    auto* wagon = new game::wagon<game::orc>;
    keep(wagon);
    delete wagon;
    auto* goblin = new game::goblin;
    game::goblin_cave goblin_cave{number};
    keep(&goblin_cave);
    keep(goblin);
    delete goblin;
    game::kobold* kobold = nullptr;
    kobold = new game::kobold;
    game::kobold_cave kobold_cave{number};
    keep(&kobold_cave);
    keep(kobold);
    delete kobold;
    game::giant* giant = nullptr;
    giant = new game::giant(game::present{number});
    keep(giant);
    delete giant;
    troll = new game::stone_troll;
    keep(troll);
    delete troll;
    char* letters = new char[7'001];  // not of a class
    keep(letters);
    delete[] letters;
    void* plain = ::operator new(7'002);
    keep(plain);
    ::operator delete(plain);
}
