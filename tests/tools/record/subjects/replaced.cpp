// Replaces its own file by another while it runs, and allocates before or after that.
// Usage: replaced before|after OTHER_FILE
#include <cstdio>
#include <cstdlib>
#include <cstring>

[[gnu::noinline]] void ALLOCATING_FUNCTION() {
    for (int i = 0; i < 100; ++i) {
        void* volatile block = std::malloc(777);
        std::free(block);
    }
}

int main(int count, char** arguments) {
    if (count < 3) return 1;
    const bool before = std::strcmp(arguments[1], "before") == 0;
    if (before) ALLOCATING_FUNCTION();
    if (std::rename(arguments[2], arguments[0]) != 0) return 2;
    if (!before) ALLOCATING_FUNCTION();
    return 0;
}
