// The second translation unit of a user's program.
#include <acre/acre.hpp>

#include <vector>

int sum_in_an_arena(int count) {
    acre::arena memory;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{memory};
    int sum = 0;
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    for (const int each : numbers) sum += each;
    return sum;
}
