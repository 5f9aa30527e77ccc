// A python that embeds CPython, for its own tests by scripts/suites: with ACRE_HOOK in the environment all three
// domains are acre's, and without it CPython's own.
#include <acre/adapt/hooks/cpython.hpp>  // first, as Python.h asks
//
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstdlib>

int main(int count, char** arguments) {
    if (std::getenv("ACRE_HOOK") != nullptr) {
        // Never destroyed: CPython keeps some blocks to the program's end. The interpreter's lock guards `locked`.
        static auto& locked = *new acre::malloc_face{*new acre::multi_pool};
        static auto& raw = *new acre::malloc_face{*new acre::concurrent_multi_pool};
        acre::set_cpython_memory<PYMEM_DOMAIN_OBJ>(locked);
        acre::set_cpython_memory<PYMEM_DOMAIN_MEM>(locked);
        acre::set_cpython_memory<PYMEM_DOMAIN_RAW>(raw);
    }
    return Py_BytesMain(count, arguments);
}
