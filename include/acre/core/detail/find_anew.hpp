// Finds a variable of the thread that runs, anew at each access.
//
// Compilers take the address of a thread_local variable for a constant of the function, and keep it across calls. A
// call may suspend a fiber, which goes on in another thread: the kept address is then another thread's variable, which
// that thread uses at the same time. So what is inlined into a program's functions gets the address from a function
// that the compiler cannot see through. What the library calls out of line names the variable as usual.
//
// A finder is a function `T& f() noexcept` marked ACRE_FINDER whose body is ACRE_FIND(found, variable, symbol, number);
// `symbol` is the variable's mangled name, in which %c1 stands for `number`. Where ACRE_BY_SEGMENT is 1, a word of the
// variable can also be read and compared without its address.
//
// Cost: two instructions in programs for x86-64 Linux. In libraries for it a call of about ten, fewer than the compiler
// needs for one access. Elsewhere, and with sanitizers, a call. A library that wraps acre in functions of its own, in
// which no fiber is suspended, may define ACRE_CALLED_OUT_OF_LINE for all of its sources: then nothing.
#pragma once

#include <acre/core/sanitizer.hpp>

#define ACRE_BY_SEGMENT 0

#if defined(ACRE_CALLED_OUT_OF_LINE)
#define ACRE_FINDER [[gnu::always_inline]]
#define ACRE_FIND(found, variable, symbol, number) (found = &(variable))

// Symbols are named in text here, so the variables are marked gnu::used. Android may emulate thread_local variables.
#elif defined(__x86_64__) && defined(__LP64__) && defined(__linux__) && !defined(__ANDROID__) && \
    !defined(ACRE_HAS_ADDRESS_SANITIZER) && !defined(ACRE_HAS_THREAD_SANITIZER)
#if !defined(__PIC__) || defined(__PIE__)
#undef ACRE_BY_SEGMENT
#define ACRE_BY_SEGMENT 1
#define ACRE_FINDER [[gnu::always_inline]]
#define ACRE_FIND(found, variable, symbol, number)                  \
    asm volatile(                                                   \
        "mov{q %%fs:0, %0| %0, QWORD PTR fs:0}\n\t"                 \
        "lea{q " symbol "@tpoff(%0), %0| %0, " symbol "@tpoff[%0]}" \
        : "=r"(found)                                               \
        : "i"(number))
// Sets `value` to the word at `offset`.
#define ACRE_READ(value, symbol, number, offset)                                               \
    asm volatile("mov{q %%fs:" symbol "@tpoff+%c2, %0| %0, QWORD PTR fs:" symbol "@tpoff+%c2}" \
                 : "=r"(value)                                                                 \
                 : "i"(number), "i"(offset))
// Sets `is` to whether the word at `offset` is to `other` as the condition says: "e" for equal, "a" for above.
#define ACRE_COMPARE(is, condition, symbol, number, offset, other)                             \
    asm volatile("cmp{q %3, %%fs:" symbol "@tpoff+%c2| QWORD PTR fs:" symbol "@tpoff+%c2, %3}" \
                 : "=@cc" condition(is)                                                        \
                 : "i"(number), "i"(offset), "r"(other))
#else
// The call of a TLS descriptor keeps all registers but rax. It needs an aligned stack, below what a leaf function keeps
// there.
#define ACRE_FINDER [[gnu::noinline, gnu::visibility("hidden")]]
#define ACRE_FIND(found, variable, symbol, number)             \
    asm volatile(                                              \
        "mov{q %%rsp, %%rdx| rdx, rsp}\n\t"                    \
        "lea{q -128(%%rsp), %%rsp| rsp, [rsp-128]}\n\t"        \
        "and{q $-16, %%rsp| rsp, -16}\n\t"                     \
        "lea{q " symbol "@tlsdesc(%%rip), %%rax| rax, " symbol \
        "@tlsdesc[rip]}\n\t"                                   \
        "call{q *" symbol "@tlscall(%%rax)| QWORD PTR " symbol \
        "@tlscall[rax]}\n\t"                                   \
        "mov{q %%rdx, %%rsp| rsp, rdx}\n\t"                    \
        "add{q %%fs:0, %%rax| rax, QWORD PTR fs:0}"            \
        : "=a"(found)                                          \
        : "i"(number)                                          \
        : "rdx", "cc", "memory")
#endif

#else
// The empty statement keeps compilers from taking calls of the function for constant.
#define ACRE_FINDER [[gnu::noinline]]
#define ACRE_FIND(found, variable, symbol, number) \
    asm volatile("");                              \
    found = &(variable)
#endif
