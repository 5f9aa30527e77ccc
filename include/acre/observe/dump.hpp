// Prints a line about any resource: its name, and the numbers that it publishes.
//
// Use it while you look for something, from a debugger (`call acre::dump(level, stderr)` needs an instantiation in the
// program) or at the end of a program. Use acre::describe where there is no stdio, or where the text goes elsewhere.
//
// Cost: that of acre::describe, and the output. Thread rules: those of acre::describe.
//
//     acre::dump(level);          // to stderr
//     acre::dump(level, stdout);
#pragma once

#include <acre/observe/describe.hpp>
#include <cstdio>
#include <string_view>

namespace acre {

/// Prints a line about `r`.
template <class R>
void dump(const R& r, std::FILE* to = stderr) {
    describe(r, [to](std::string_view line) {
        std::fwrite(line.data(), 1, line.size(), to);
        std::fputc('\n', to);
    });
}

}  // namespace acre
