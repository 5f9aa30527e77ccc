// Uses the package: exits with 0 if an arena and a pool work.
#include <acre/arenas/arena.hpp>
#include <acre/pools/object_pool.hpp>

int main() {
    acre::arena level;
    acre::object_pool<int> numbers;
    int* const number = numbers.create(7);
    const bool right = *number == 7 && level.copy("Moria") == "Moria";
    numbers.destroy(number);
    return right ? 0 : 1;
}
