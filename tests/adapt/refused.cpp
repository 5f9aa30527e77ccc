// What the adapters refuse at compile time. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set to
// its number. Case 0 is the rest of the file, which compiles.
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <list>
#include <utility>
#include <vector>

template <class T, class R>
using list_in = std::list<T, acre::allocator<T, R>>;

struct monster {
    virtual ~monster() = default;
};
struct orc : monster {};
struct plain_monster {};
struct plain_orc : plain_monster {
    int axes[10] = {};
};
struct flying_orc : virtual monster {};

void nodes_fit_the_slots() {
    acre::pool<64> slots;
    list_in<int, acre::pool<64>> numbers{slots};
    numbers.push_back(1);
    // An array larger than a slot is a block of its own on purpose.
    std::vector<int, acre::allocator<int, acre::pool<64>>> array{slots};
    array.resize(1000);
    acre::object_pool<int> integers;
    auto one = acre::make_unique<int>(integers, 1);
}

struct remembering {
    using allocator_type = acre::allocator<char, acre::arena>;
    explicit remembering(int) {}
    remembering(int, allocator_type) {}
    remembering(const remembering&, allocator_type) {}
};
// It has no constructor for a number and an allocator.
struct forgetful {
    using allocator_type = acre::allocator<char, acre::arena>;
    explicit forgetful(int) {}
    forgetful(const forgetful&, allocator_type) {}
};

void elements_take_the_allocator() {
    acre::arena level;
    std::vector<remembering, acre::allocator<remembering, acre::arena>> all{level};
    all.emplace_back(1);
}

void arrays_and_complete_classes() {
    acre::arena level;
    auto several = acre::make_unique<int[]>(level, 5);
    acre::unique_ptr<const int[], acre::arena> read_only = std::move(several);
    struct holder {
        acre::unique_ptr<monster, acre::arena> one;
    };
}

void bases_have_virtual_destructors() {
    acre::arena level;
    acre::unique_ptr<monster, acre::arena> any = acre::make_unique<orc>(level);
}

#if ACRE_TEST_CASE == 1
void nodes_of_a_list() {
    acre::object_pool<int> integers;
    list_in<int, acre::object_pool<int>> numbers{integers};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 2
void nodes_under_a_lock() {
    acre::synchronized<acre::pool<16>> slots;
    list_in<int, acre::synchronized<acre::pool<16>>> numbers{slots};
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 3
void nodes_in_a_static_pool() {
    list_in<int, acre::static_pool<16>> numbers;
    numbers.push_back(1);
}
#elif ACRE_TEST_CASE == 4
void shared_objects_with_their_counts() {
    acre::object_pool<int> integers;
    auto shared = acre::make_shared<int>(integers, 1);
}
#elif ACRE_TEST_CASE == 5
void unique_objects_of_another_class() {
    acre::object_pool<int> integers;
    auto owned = acre::make_unique<plain_orc>(integers);
}
#elif ACRE_TEST_CASE == 6
void bases_without_a_virtual_destructor() {
    acre::arena level;
    acre::unique_ptr<plain_monster, acre::arena> any = acre::make_unique<plain_orc>(level);
}
#elif ACRE_TEST_CASE == 8
struct unknown;
struct holder {
    acre::unique_ptr<unknown, acre::arena> one;
};
#elif ACRE_TEST_CASE == 9
void arrays_of_a_known_length() {
    acre::arena level;
    auto several = acre::make_unique<int[5]>(level);
}
#elif ACRE_TEST_CASE == 10
void elements_that_would_lose_their_allocator() {
    acre::arena level;
    std::vector<forgetful, acre::allocator<forgetful, acre::arena>> all{level};
    all.emplace_back(1);
}
#elif ACRE_TEST_CASE == 7
void virtual_bases() {
    acre::arena level;
    acre::unique_ptr<monster, acre::arena> any = acre::make_unique<flying_orc>(level);
}
#endif
