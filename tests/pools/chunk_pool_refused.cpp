// The compile-time errors of chunk_pool: one case each, compiled with ACRE_TEST_CASE set to its number by the tests
// in CMakeLists.txt. Case 0 has no error and must compile.
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <cstddef>

namespace {

#if ACRE_TEST_CASE == 1
using pool = acre::chunk_pool<100, 64, 32>;
#elif ACRE_TEST_CASE == 2
using pool = acre::chunk_pool<100, 32, 32, 64>;
#elif ACRE_TEST_CASE == 3
using pool = acre::chunk_pool<100>;
#elif ACRE_TEST_CASE == 4
using pool = acre::chunk_pool<100, 32, std::size_t{64}>;
#elif ACRE_TEST_CASE == 5
using pool = acre::chunk_pool<100, 32, 'x', true>;
#elif ACRE_TEST_CASE == 6
using pool = acre::chunk_pool<100, 0, 32>;
#elif ACRE_TEST_CASE == 7
using pool = acre::chunk_pool<100, -32, 32>;
#elif ACRE_TEST_CASE == 8
using pool = acre::chunk_pool<0, 32>;
#elif ACRE_TEST_CASE == 9
using pool = acre::chunk_pool<(std::size_t{1} << 60), 32, 64>;
#elif ACRE_TEST_CASE == 10
using pool = acre::chunk_pool<100, 32.5, 64.5>;
#else
using pool = acre::chunk_pool<100, 10, 20, 40>;
static_assert(pool::capacity() == 100 * (16 + 32 + 48));
static_assert(acre::chunk_pool<7, std::size_t{24}, sizeof(long double[3])>::waste_bytes() == 7 * 8);
static_assert(acre::chunk_pool<7, 32U, 64U>::waste_bytes() == 0);
#endif

}  // namespace

void use();
void use() {
    pool chunks;
    auto* one = new (chunks) int{1};
    chunks.destroy(one);
    chunks.deallocate(chunks.allocate(8), 8);
#if ACRE_TEST_CASE == 11
    auto copy = chunks;
#elif ACRE_TEST_CASE == 12
    acre::statistics<pool> counted;
    (void)new (counted) int;
#else
    acre::statistics<pool> counted;
    counted.destroy(counted.create<int>(1));
#endif
}
