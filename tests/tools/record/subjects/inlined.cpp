// An allocation in a function that is inlined into another.
#include <cstdlib>

namespace {

[[gnu::always_inline]] inline void* innermost_call() {
    void* p = std::malloc(7'654'321);  // line 7 is asked for
    asm volatile("" : "+r"(p));
    return p;
}

[[gnu::always_inline]] inline void* middle_call() {
    return innermost_call();
}

}  // namespace

[[gnu::noinline]] void outer_function() {
    void* p = middle_call();  // line 19 is asked for
    std::free(p);
    asm volatile("");
}

int main() {
    outer_function();
}
