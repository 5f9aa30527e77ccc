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

}  // namespace game

template <typename T>
[[gnu::always_inline]] inline void keep(T* object) {
    asm volatile("" : "+r"(object) : : "memory");
}

int main() {
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
    char* letters = new char[7'001];  // not of a class
    keep(letters);
    delete[] letters;
    void* plain = ::operator new(7'002);
    keep(plain);
    ::operator delete(plain);
}
