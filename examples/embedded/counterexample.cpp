// What the embedded profile must not do: no_heap.sh has to find it.
#include <acre/arenas/arena.hpp>

int main() {
    acre::arena grows_from_the_heap;
    return grows_from_the_heap.create<int>(0) == nullptr;
}
