// Uses the heap, which the embedded profile forbids: no_heap.sh must detect it.
#include <acre/arenas/arena.hpp>

int main() {
    acre::arena grows_from_the_heap;
    return grows_from_the_heap.create<int>(0) == nullptr;
}
