// The compile-time errors of object pools: one case each, compiled with ACRE_TEST_CASE set to its number by the tests
// in CMakeLists.txt. Case 0 has no error and must compile.
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

void use();
void use() {
    acre::object_pool<int> numbers;
    acre::concurrent_object_pool<int> shared;
    acre::pool<64> slots;
    acre::multi_pool sizes;
#if ACRE_TEST_CASE == 1
    numbers.clear();
#elif ACRE_TEST_CASE == 2
    shared.clear();
#elif ACRE_TEST_CASE == 3
    slots.clear();
#elif ACRE_TEST_CASE == 4
    sizes.clear();
#elif ACRE_TEST_CASE == 5
    acre::object_pool<struct declared> of_a_declared_class;
#elif ACRE_TEST_CASE == 6
    acre::concurrent_object_pool<struct declared> of_a_declared_class;
#else
    numbers.reset();
    numbers.release();
    shared.release_unused();
    slots.reset();
    sizes.release();
#endif
}
