// What acre says to clang's -Wfunction-effects (clang 20 and newer), which refuses to compile a call that may block in
// a function marked [[clang::nonblocking]]. Other compilers read nothing here.
//
// Used by acre's headers, not directly. Operations that a page promises to be bounded carry ACRE_NONBLOCKING. Where the
// answer depends on the program's types or options, nothing is marked, and clang infers it from the code.
#pragma once

#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::nonblocking)
#define ACRE_NONBLOCKING [[clang::nonblocking]]
#endif
#endif
#if !defined(ACRE_NONBLOCKING)
#define ACRE_NONBLOCKING
#endif

namespace acre::detail {

/// Calls `function`, which may block. Clang takes the call for one that does not. For what runs only when the program
/// asked for it or ends: a handler that it set, its upstream behind an option, the message of a misuse.
/// RealtimeSanitizer still reports such a call when a real-time thread makes it.
template <class Function>
decltype(auto) allow_blocking(Function function) {
    using result = decltype(function());
    using plain = result (*)(Function&);
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wfunction-effects"
#endif
    using nonblocking = result (*)(Function&) ACRE_NONBLOCKING;
    const nonblocking call = static_cast<plain>([](Function& called) -> result { return called(); });
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
    return call(function);
}

}  // namespace acre::detail
