// Compiled with frame pointers: C and C++ allocations at some depth.
#include <cstdlib>

namespace {

[[gnu::noinline]] void allocate() {
    void* p = std::malloc(7'654'321);
    asm volatile("" : "+r"(p));
    std::free(p);
    char* array = new char[7'654'322];
    asm volatile("" : "+r"(array));
    delete[] array;
}

[[gnu::noinline]] void middle(int depth) {
    if (depth > 0) {
        middle(depth - 1);
    } else {
        allocate();
    }
    asm volatile("");
}

}  // namespace

int main() {
    middle(3);
    asm volatile("");
}
