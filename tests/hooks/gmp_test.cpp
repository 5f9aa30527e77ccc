// GMP on acre: calculations, numbers that outlive a scope, and what happens without memory.
#include <gmp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/gmp.hpp>
#include <string>
#include <string_view>

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

TEST(gmp_number, shrinks_without_memory) {
    checking_upstream memory;
    const acre::use_resource use{memory};
    mpz_t number;
    mpz_init2(number, 100'000);
    mpz_set_ui(number, 7);
    memory.fail_from(1);
    mpz_realloc2(number, 64);
    EXPECT_EQ(mpz_get_ui(number), 7u);
    mpz_clear(number);
}

// GMP cannot go on, so that a process is spent on each: it aborts with the sentence, and nothing else happens to it.
TEST(gmp_misuse, each_request_fails) {
    int sentences = 0;
    const bool every_one = std::getenv("ACRE_EVERY_REQUEST") != nullptr;
    for (std::size_t n = 1;; n += every_one || n < 5 ? 1 : n / 2) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            checking_upstream memory;
            const acre::use_resource use{memory};
            memory.fail_at(n);
            acre::set_misuse_handler([](const acre::misuse& noticed) {
                _exit(std::string_view{noticed.resource} == "acre::gmp_allocate" ? 3 : 4);
            });
            _exit(calculate() == 200 * 199 ? 0 : 5);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "when request " << n << " failed";
        if (WEXITSTATUS(status) == 0) break;
        EXPECT_EQ(WEXITSTATUS(status), 3) << "when request " << n << " failed";
        ++sentences;
    }
    RecordProperty("sentences", sentences);
    EXPECT_GT(sentences, 5);
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
