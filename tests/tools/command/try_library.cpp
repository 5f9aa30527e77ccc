// A library for the tests of `acre try` to preload. It does nothing, writes a line, or ends the program.
#include <cstdio>
#include <cstdlib>

[[gnu::constructor]] static void begin() {
#if defined(SHOUTS)
    std::puts("a shout");
    std::fflush(stdout);
#elif defined(ENDS)
    std::fputs("this library ends the program\n", stderr);
    std::exit(9);
#endif
}
