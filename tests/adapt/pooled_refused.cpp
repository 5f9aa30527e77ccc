// The compile-time errors of pooled classes: one case each, compiled with ACRE_TEST_CASE set to its number by the tests
// in CMakeLists.txt. Case 0 has no error and must compile.
#include <acre/adapt/pooled.hpp>

namespace {

#if ACRE_TEST_CASE == 1
struct orc : acre::pooled<orc, acre::only_final<>> {
#else
struct orc final : acre::pooled<orc, acre::only_final<>> {
#endif
    int strength = 100;
};

#if ACRE_TEST_CASE == 2
struct troll {
#else
struct troll final {
#endif
    int strength = 100;
    ACRE_POOLED_IN(troll, acre::only_final<acre::own_pool>);
};

}  // namespace

void use();
void use() {
    delete new orc;
    delete new troll;
}
