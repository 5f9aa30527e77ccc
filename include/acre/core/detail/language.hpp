// Refuses a language older than C++20 by a sentence, and ends the compilation there: what follows would be hundreds of
// errors about `concept` and `consteval`.
//
// Used by acre's headers, not directly.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "acre is written in C++20: compile with -std=c++20 or newer (CMake: link acre::acre, which asks for it)"
#include "-std=c++20 is missing"
#endif
