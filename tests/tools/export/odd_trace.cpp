// Writes a trace that is hard for readers of exports: odd names, several row groups and threads, unknown stacks,
// sampling. For scripts/readers-tests.
//
// Usage: export-odd-trace FILE
#include <cstdio>
#include <exception>

#include "tools/support/random_trace.hpp"

namespace {

using namespace acre::test;

constexpr std::size_t events = 600'000;  // more than two row groups of Parquet

constexpr const char* odd_names[] = {"std::map<int, \"a, b\">::operator[](int const&)",
                                     "semi;colon",
                                     "two\r\nlines\tand a tab",
                                     "not UTF-8: \xff\xfe",
                                     "'single' and \\backslash\\",
                                     "\u00fcml\u00e4ut \U0001f600",
                                     "=1+2",
                                     " spaces 12 "};

made_trace odd_trace() {
    made_trace made = random_trace(11, events);
    for (std::size_t i = 0; i < made.tables.frames.size(); ++i) {
        frame_info& frame = made.tables.frames[i];
        if (i % 5 == 4) {
            frame.locations.clear();
        } else {
            frame.locations[0].function = odd_names[i % std::size(odd_names)];
            frame.locations[0].file = i % 3 == 0 ? "" : frame.locations[0].function + ".cpp";
            if (i % 4 == 0) frame.locations.push_back({"inlines \"it\"", "odd, name.hpp", 7});
        }
        if (i % 7 == 6) frame.module = frame_info::no_module;
    }
    // Sums must fit into the 53 bits of a JavaScript number.
    for (event& e : made.events) e.size &= 0xf'ffff;
    made.header.command = {"odd", "arguments, with \"quotes\"", "\xff", "two\nlines"};
    made.header.notes = {"A note with \"quotes\"."};
    made.header.sampling_period = 3;
    made.header.duration = 5'000'000'000;
    return made;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    try {
        odd_trace().write(arguments[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
