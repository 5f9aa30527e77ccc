// What the standard library's headers call in libacre-malloc, which does not link the C++ runtime.
#include <cstdlib>

// std::atomic::wait throws where the system has no futexes. Weak: the C++ runtime may be linked into the same program.
extern "C" [[noreturn, gnu::weak, gnu::visibility("hidden")]] void acre_throw_system_error(int) asm(
    "_ZSt20__throw_system_errori");
extern "C" void acre_throw_system_error(int) {
    std::abort();
}
