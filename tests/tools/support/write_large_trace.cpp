// Writes a trace with a number of events, for measuring commands by hand: acre_large_trace OUTPUT EVENTS
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "large_trace.hpp"

int main(int count, char** arguments) {
    const std::uint64_t events = count == 3 ? std::strtoull(arguments[2], nullptr, 10) : 0;
    if (events == 0) {
        std::fputs("usage: acre_large_trace OUTPUT EVENTS\n", stderr);
        return 2;
    }
    try {
        acre::test::large_trace{events}.write(arguments[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "acre_large_trace: %s\n", error.what());
        return 1;
    }
}
