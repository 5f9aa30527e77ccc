// Exact arithmetic: harmonic numbers as fractions, a determinant without division, binomials. The argument names the
// memory.
#include <gmp.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/gmp.hpp>

#include "measure.hpp"

namespace {

// C++'s way: each intermediate result is a number of its own.
struct number {
    mpz_t z;
    number() { mpz_init(z); }
    explicit number(long value) { mpz_init_set_si(z, value); }
    number(const number& other) { mpz_init_set(z, other.z); }
    number& operator=(const number& other) {
        mpz_set(z, other.z);
        return *this;
    }
    ~number() { mpz_clear(z); }
    friend number operator*(const number& a, const number& b) {
        number result;
        mpz_mul(result.z, a.z, b.z);
        return result;
    }
    friend number operator-(const number& a, const number& b) {
        number result;
        mpz_sub(result.z, a.z, b.z);
        return result;
    }
    friend number operator+(const number& a, const number& b) {
        number result;
        mpz_add(result.z, a.z, b.z);
        return result;
    }
    friend number operator/(const number& a, const number& b) {
        number result;
        mpz_divexact(result.z, a.z, b.z);
        return result;
    }
};

long determinant(std::size_t size) {
    std::vector<std::vector<number>> m(size);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j)
            m[i].emplace_back(static_cast<long>((i * 31 + j * j * 17 + i * j * 7) % 101 + (i == j) * 50));
    }
    number before{1};
    for (std::size_t k = 0; k + 1 < size; ++k) {
        for (std::size_t i = k + 1; i < size; ++i) {
            for (std::size_t j = k + 1; j < size; ++j) m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / before;
        }
        before = m[k][k];
    }
    return mpz_get_si(m[size - 1][size - 1].z);
}

long binomials(std::size_t rows) {
    std::vector<number> row{number{1}};
    for (std::size_t i = 1; i < rows; ++i) {
        std::vector<number> next{number{1}};
        for (std::size_t j = 1; j < i; ++j) next.push_back(row[j - 1] + row[j]);
        next.emplace_back(1);
        row = std::move(next);
    }
    return mpz_get_si(row[rows / 2].z);
}

long harmonic(unsigned long terms) {
    mpq_t sum;
    mpq_init(sum);
    for (unsigned long i = 1; i <= terms; ++i) {
        mpq_t term;
        mpq_init(term);
        mpq_set_ui(term, 1, i);
        mpq_add(sum, sum, term);
        mpq_clear(term);
    }
    const long result = mpz_get_si(mpq_numref(sum));
    mpq_clear(sum);
    return result;
}

void calculate() {
    static volatile long kept = 0;
    kept = kept + determinant(40) + binomials(250) + harmonic(300);
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    if (memory == "default") return acre_bench::measure(calculate);
    mp_set_memory_functions(acre::gmp_allocate<>, acre::gmp_reallocate<>, acre::gmp_free<>);
    if (memory == "heap") return acre_bench::measure(calculate);
    if (memory == "multi_pool") {
        acre::multi_pool numbers;
        const acre::use_resource use{numbers};
        return acre_bench::measure(calculate);
    }
    if (memory == "arena") {
        acre::arena numbers;
        const acre::use_resource use{numbers};
        return acre_bench::measure([&] {
            calculate();
            numbers.reset();
        });
    }
    acre_bench::unknown(memory);
}
