// A double free where there is no operating system: the sentence goes to _write, and the program ends in a trap.
#include <acre/memory/buffer.hpp>
#include <acre/pools/pool.hpp>
#include <cstddef>

#include "tour.hpp"

namespace {
alignas(16384) std::byte storage[65536];
}

int acre_test::run_tour(void (*print)(const char* text)) {
    acre::buffer below{storage};
    acre::pool<24> slots{below};
    void* p = slots.try_allocate();
    slots.deallocate(p);
    slots.deallocate(p);
    print("a double free was not noticed\n");
    return 0;
}
