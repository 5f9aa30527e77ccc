// Runs all tests of the C interface.
#include "check.h"

int main(void) {
    test_errors();
    test_arenas();
    test_pools();
    test_multi_arenas();
    test_statistics();
    test_malloc();
    test_failures();
    test_threads();
    test_misuse();
    puts("All tests of the C interface passed.");
    return 0;
}
