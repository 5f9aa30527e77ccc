// A library with a heap of its own, which unloaded.cpp unloads.
#include <acre/heaps/general_heap.hpp>

extern "C" [[gnu::visibility("default")]] bool use_the_heap() {
    acre::general_heap heap;
    void* p = heap.try_allocate(100);
    heap.deallocate(p, 100);
    return p != nullptr;
}
