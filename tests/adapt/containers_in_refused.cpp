// What containers over a resource refuse at compile time. CMakeLists.txt lists the cases; each is compiled with
// ACRE_TEST_CASE set to its number. Case 0 is the rest of the file, which compiles.
#include <acre/adapt/containers.hpp>
#include <acre/arenas/arena.hpp>
#include <type_traits>
#include <vector>

using in_level = acre::containers_in<acre::arena>;

// Asking is not using, and a container may be instantiated as a whole.
static_assert(std::is_default_constructible_v<in_level::vector<int>>);
template class std::vector<int, acre::allocator<int, acre::arena>>;

// Where the resource makes an element, braces make a list of one.
struct node {
    node(acre::arena& level)
#if ACRE_TEST_CASE == 5
        : children{level} {}
#else
        : children(level) {
    }
#endif
          in_level::list<node> children;
};

void use() {
    acre::arena forest;
    node tree{forest};
    in_level::map<int*, int*> pointers{forest};
    pointers.insert({nullptr, nullptr});
    acre::arena level;
    in_level::vector<int> numbers{level};
    in_level::vector<in_level::string> texts{level};
    texts.push_back({"text", level});
    texts.emplace_back("text");
    in_level::map<in_level::string, int> counts{level};
    counts.insert({in_level::string{"text", level}, 1});
    counts.try_emplace("text", 1);
#if ACRE_TEST_CASE == 1
    in_level::vector<int> nowhere;
#elif ACRE_TEST_CASE == 2
    in_level::map<in_level::string, int> nowhere;
#elif ACRE_TEST_CASE == 3
    texts.push_back("text");
#elif ACRE_TEST_CASE == 4
    counts.insert({"text", 1});
#elif ACRE_TEST_CASE == 5
    node root{level};
#endif
}
