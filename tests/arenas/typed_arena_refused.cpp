// What a typed_arena refuses at compile time. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set
// to its number. Case 0 is the rest of the file, which compiles.
#include <acre/arenas/typed_arena.hpp>
#include <acre/core/literals.hpp>

namespace {

using namespace acre::literals;

struct orc {
    int strength = 100;
};
struct mean_orc : orc {
    int axes[10] = {};
};

#if ACRE_TEST_CASE == 1
constinit acre::typed_arena<orc, 300'000, acre::typed_arena_options{.limit_bytes = 1_MiB}> orcs;
#elif ACRE_TEST_CASE == 2
constinit acre::typed_arena<orc, SIZE_MAX / 2> orcs;
#elif ACRE_TEST_CASE == 3
constinit acre::typed_arena<orc, 0> orcs;
#elif ACRE_TEST_CASE == 4
constinit acre::typed_arena<const orc, 4> orcs;
#else
constinit acre::typed_arena<orc, 4, acre::typed_arena_options{.limit_bytes = 1_MiB}> orcs;
#endif

}  // namespace

void use() {
    auto* one = orcs.create();
    orcs.destroy(one);
#if ACRE_TEST_CASE == 5
    (void)orcs.create<mean_orc>();
#elif ACRE_TEST_CASE == 6
    mean_orc mean;
    orcs.destroy(&mean);
#elif ACRE_TEST_CASE == 7
    auto copy = orcs;
#endif
}
