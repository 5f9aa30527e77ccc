// A program that has acre from its module only: literals, smart pointers, concepts, containers, adapters, threads.
#include <cstddef>
#include <cstdio>
#include <memory_resource>
#include <vector>

import acre;

using namespace acre::literals;

static_assert(64_KiB == 65536);
static_assert(acre::resource<acre::arena> && !acre::resource<int>);
static_assert(acre::resettable_resource<acre::multi_pool>);

namespace {

struct orc {
    int strength;
};

struct bullet : acre::pooled<bullet> {
    float x = 0;
};

bool smart_pointers_work() {
    acre::multi_pool pool;
    const auto urg = acre::make_unique<orc>(pool, orc{7});
    const auto shared = acre::make_shared<orc>(pool, orc{8});
    return urg->strength == 7 && shared->strength == 8;
}

bool containers_work() {
    acre::arena level;
    std::vector<int, acre::allocator<int, acre::arena>> numbers{level};
    numbers.push_back(7);
    acre::containers_in<acre::arena>::vector<int> others{level};
    others.push_back(8);
    acre::pmr<acre::arena> frame;
    std::pmr::vector<int> third{&frame};
    third.push_back(9);
    return numbers[0] + others[0] + third[0] == 24 && frame->used() > 0;
}

bool wrappers_work() {
    acre::synchronized<acre::statistics<acre::multi_pool>> counted;
    void* const p = counted.allocate(100);
    counted.deallocate(p, 100);
    acre::limited<acre::arena> small{{.limit_bytes = 4_KiB}};
    return counted.counts().allocations.total == 1 && small.try_allocate(1_MiB) == nullptr;
}

bool threads_share() {
    acre::concurrent_object_pool<orc> orcs;
    orc* const urg = orcs.create(orc{7});
    const bool right = urg->strength == 7;
    orcs.destroy(urg);
    bullet* const shot = new bullet;
    delete shot;
    acre::general_heap heap;
    void* const p = heap.allocate(100);
    heap.deallocate(p, 100);
    return right;
}

}  // namespace

int main() {
    const bool right = smart_pointers_work() && containers_work() && wrappers_work() && threads_share();
    std::puts(right ? "right" : "wrong");
    return right ? 0 : 1;
}
