// The compile-time errors of object pools: one case each, compiled with ACRE_TEST_CASE set to its number by the tests
// in CMakeLists.txt. Case 0 has no error and must compile.
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/object_pool.hpp>

void use();
void use() {
    acre::object_pool<int> numbers;
    acre::concurrent_object_pool<int> shared;
#if ACRE_TEST_CASE == 1
    numbers.clear();
#elif ACRE_TEST_CASE == 2
    shared.clear();
#else
    numbers.reset();
    numbers.release();
    shared.release_unused();
#endif
}
