// A user's program, in two translation units that both include all of acre.
#include <acre/acre.hpp>

#include <cstdio>
#include <vector>

int sum_in_an_arena(int count);

namespace {

struct bullet {
    int x;
    int y;
};

bool pool_gives_objects() {
    acre::object_pool<bullet> bullets;
    bullet* first = bullets.create(bullet{1, 2});
    bullet* second = bullets.create(bullet{3, 4});
    if (first == nullptr || second == nullptr || first == second) return false;
    const bool right = first->y == 2 && second->x == 3;
    bullets.destroy(first);
    bullets.destroy(second);
    return right;
}

bool pmr_vector_grows() {
    acre::pmr<acre::arena> memory;
    std::pmr::vector<int> numbers{&memory};
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    return numbers.back() == 999;
}

int complain(const char* what) {
    std::fprintf(stderr, "consumer: %s\n", what);
    return 1;
}

}  // namespace

int main() {
    if (!pool_gives_objects()) return complain("the pool's objects are wrong");
    if (!pmr_vector_grows()) return complain("the vector's numbers are wrong");
    if (sum_in_an_arena(100) != 4950) return complain("the sum of the arena's numbers is wrong");
    return 0;
}
