#include <gmp.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/gmp.hpp>
#include <cstdio>

int main() {
    mp_set_memory_functions(acre::gmp_allocate<>, acre::gmp_reallocate<>, acre::gmp_free<>);

    acre::multi_pool numbers;
    const acre::use_resource use{numbers};
    mpz_t factorial;
    mpz_init_set_ui(factorial, 1);
    for (unsigned long i = 2; i <= 30; ++i) mpz_mul_ui(factorial, factorial, i);
    gmp_printf("30! = %Zd\n", factorial);
    mpz_clear(factorial);
    std::printf("%zu numbers live at the end\n", numbers.live());
}
