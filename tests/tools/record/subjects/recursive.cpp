// A tree of statements whose functions call each other: the one that allocates nothing of its own stands between two
// calls of another, so no stack that is recorded has both.
#include <cstdlib>

namespace {

volatile int depth = 2;
volatile int statements = 2;  // not known to the compiler, so that one call instruction calls them all

void block();

[[gnu::noinline]] void expression() {
    void* p = std::malloc(4'321);
    asm volatile("" : "+r"(p));
    std::free(p);
    asm volatile("");
}

[[gnu::noinline]] void loop() {
    block();
    asm volatile("");
}

[[gnu::noinline]] void statement(void (*kind)()) {
    kind();
    asm volatile("");
}

[[gnu::noinline]] void block() {
    void (*const kinds[])() = {expression, depth > 0 ? loop : expression};
    depth = depth - 1;
    for (int i = 0; i < statements; ++i) statement(kinds[i]);
    asm volatile("");
}

}  // namespace

int main() {
    block();
}
