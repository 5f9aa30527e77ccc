// A program that uses each resource of acre, for targets where GoogleTest does not run.
#pragma once

namespace acre_test {

/// Runs all cases, and calls `print` with lines that say which passed, then "N passed" if none failed. Returns 0 if so.
int run_tour(void (*print)(const char* text));

}  // namespace acre_test
