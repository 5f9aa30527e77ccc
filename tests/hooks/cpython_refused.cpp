// Memory that CPython takes without holding its lock does not go to a resource that threads do not share.
#include <acre/adapt/hooks/cpython.hpp>
//
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>

#if ACRE_TEST_CASE == 0
using below = acre::concurrent_multi_pool;
#else
using below = acre::multi_pool;
#endif

void set(acre::malloc_face<below>& memory) {
    acre::set_cpython_memory<PYMEM_DOMAIN_RAW>(memory);
}
