// What a compiler says about a type that acre.hpp leaves out. CMakeLists.txt lists the cases; each is compiled with
// ACRE_TEST_CASE set to its number. In case 0 the headers are included, before acre.hpp and after it.
#if ACRE_TEST_CASE == 0
#include <acre/adapt/containers.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#endif

#include <acre/acre.hpp>

// To mention one needs no header.
void mentions(acre::containers_in<acre::arena>*, acre::checked<acre::arena>&, acre::hardened_multi_pool&);

#if ACRE_TEST_CASE == 0
#include <acre/memory/virtual_memory.hpp>
#include <acre/observe/checked.hpp>
#endif

void use() {
#if ACRE_TEST_CASE == 0 || ACRE_TEST_CASE == 1
    acre::arena level;
    acre::containers_in<acre::arena>::vector<int> numbers{level};
#endif
#if ACRE_TEST_CASE == 0 || ACRE_TEST_CASE == 2
    acre::checked<acre::arena> watched;
#endif
#if ACRE_TEST_CASE == 0 || ACRE_TEST_CASE == 3
    acre::hardened_multi_pool keys;
#endif
#if ACRE_TEST_CASE == 0 || ACRE_TEST_CASE == 4
    acre::virtual_memory pages{{.reserve_bytes = 1 << 20}};
#endif
}
