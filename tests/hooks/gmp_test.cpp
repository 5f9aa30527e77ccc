// GMP on acre: calculations, numbers that outlive a scope, and what happens without memory.
#include <gmp.h>
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/gmp.hpp>
#include <string>

#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;

class gmp_on_acre : public testing::Environment {
public:
    void SetUp() override { mp_set_memory_functions(acre::gmp_allocate<>, acre::gmp_reallocate<>, acre::gmp_free<>); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new gmp_on_acre);

// 200! / 198!, by way of numbers of many sizes.
long calculate() {
    mpz_t product, other;
    mpz_init_set_ui(product, 1);
    mpz_init(other);
    for (unsigned long i = 2; i <= 200; ++i) {
        mpz_mul_ui(product, product, i);
        if (i == 198) mpz_set(other, product);
    }
    mpz_divexact(product, product, other);
    const long result = mpz_get_si(product);
    mpz_clears(product, other, nullptr);
    return result;
}

template <class R>
class gmp : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(gmp, resources);

TYPED_TEST(gmp, calculates_in_a_scope) {
    TypeParam memory;
    const acre::use_resource use{memory};
    EXPECT_EQ(calculate(), 200 * 199);
}

TEST(gmp_number, outlives_its_scope) {
    acre::multi_pool memory;
    mpz_t number;
    {
        const acre::use_resource use{memory};
        mpz_init_set_str(number, "123456789012345678901234567890", 10);
    }
    EXPECT_EQ(memory.live(), 1u);
    mpz_mul(number, number, number);  // in a larger block, from the heap
    mpz_clear(number);
    EXPECT_EQ(memory.live(), 0u);
}

TEST(gmp_number, text_is_freed_by_gmps_function) {
    checking_upstream memory;
    const acre::use_resource use{memory};
    mpz_t number;
    mpz_init_set_ui(number, 12345);
    char* text = mpz_get_str(nullptr, 10, number);
    EXPECT_STREQ(text, "12345");
    void (*free_function)(void*, std::size_t) = nullptr;
    mp_get_memory_functions(nullptr, nullptr, &free_function);
    free_function(text, 6);
    mpz_clear(number);
}

TEST(gmp_misuse, without_memory_a_sentence) {
    EXPECT_DEATH(
        {
            acre::limited<acre::multi_pool> memory{{.limit_bytes = 1000}};
            const acre::use_resource use{memory};
            calculate();
            mpz_t number;
            mpz_init2(number, 100'000);
        },
        "acre::gmp_allocate: the resource has no memory for a number, and GMP cannot go on without");
}

}  // namespace
