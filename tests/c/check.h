// Checks for the tests of the C interface. A failed one prints where, and ends the program.
#ifndef ACRE_TESTS_C_CHECK_H
#define ACRE_TESTS_C_CHECK_H

#include <acre.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            fprintf(stderr, "the last error of acre: %s\n", acre_last_error());     \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

// The last error is `status`; clears it.
#define CHECK_ERROR(status)                    \
    do {                                       \
        CHECK(acre_last_status() == (status)); \
        CHECK(acre_last_error()[0] != '\0');   \
        acre_clear_error();                    \
    } while (0)

static inline bool is_aligned(const void* p, size_t alignment) {
    return (uintptr_t)p % alignment == 0;
}

// Each file's tests.
void test_arenas(void);
void test_errors(void);
void test_failures(void);
void test_malloc(void);
void test_misuse(void);
void test_multi_arenas(void);
void test_pools(void);
void test_statistics(void);
void test_threads(void);

#endif
