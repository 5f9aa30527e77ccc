// Hooks of the functions by which a program restricts its own system calls (seccomp), and of syscall(). A restriction
// may kill a process for a call that it does not foresee, such as those of the recorder.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdarg>

#include "recorder.hpp"

namespace acre::recorder {
namespace {

// linux/seccomp.h
constexpr long set_mode_strict = 0;
constexpr long set_mode_filter = 1;

long with_errno(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = static_cast<int>(-result);
    return -1;
}

/// Makes a system call that restricts those that follow.
template <typename... Arguments>
long restrict_by(long number, Arguments... arguments) {
    before_restriction();
    const long result = system_call(number, arguments...);
    after_restriction(result >= 0);
    return with_errno(result);
}

using syscall_function = long(long, long, long, long, long, long, long);

long syscall_itself(long number, long a, long b, long c, long d, long e, long f) {
    return with_errno(system_call(number, a, b, c, d, e, f));
}

}  // namespace

extern "C" {

/// The C library's syscall().
[[gnu::visibility("hidden")]] extern syscall_function* acre_record_next_syscall;
constinit syscall_function* acre_record_next_syscall = syscall_itself;

[[gnu::visibility("hidden"), gnu::used]] long acre_record_seccomp(long number, long mode, long b, long c, long d,
                                                                  long e, long f) {
    const bool restricts = mode == set_mode_strict || mode == set_mode_filter;
    return restricts ? restrict_by(number, mode, b, c, d, e, f) : syscall_itself(number, mode, b, c, d, e, f);
}

[[gnu::visibility("hidden"), gnu::used]] long acre_record_execve(long, const char* path, char* const* arguments,
                                                                 char* const* environment) {
    return execve(path, arguments, environment);
}

[[gnu::visibility("hidden"), gnu::used]] long acre_record_execveat(long, int folder, const char* path,
                                                                   char* const* arguments, char* const* environment,
                                                                   int flags) {
    return execveat(folder, path, arguments, environment, flags);
}

}  // extern "C"

namespace {

[[gnu::constructor]] void look_up() {
    if (auto* next = next_definition<syscall_function>("syscall")) acre_record_next_syscall = next;
}

}  // namespace
}  // namespace acre::recorder

// syscall() itself. It jumps, since a call such as clone may return on another stack or twice.
asm(R"(
    .text
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
    cmpq $317, %rdi
    je acre_record_seccomp
    cmpq $59, %rdi
    je acre_record_execve
    cmpq $322, %rdi
    je acre_record_execveat
    jmp *acre_record_next_syscall(%rip)
    .cfi_endproc
    .size syscall, . - syscall
)");
static_assert(__NR_seccomp == 317 && __NR_execve == 59 && __NR_execveat == 322);

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

int prctl(int option, ...) noexcept {
    std::va_list rest;
    va_start(rest, option);
    const unsigned long second = va_arg(rest, unsigned long);
    const unsigned long third = va_arg(rest, unsigned long);
    const unsigned long fourth = va_arg(rest, unsigned long);
    const unsigned long fifth = va_arg(rest, unsigned long);
    va_end(rest);
    if (option == PR_SET_SECCOMP)
        return static_cast<int>(restrict_by(__NR_prctl, option, second, third, fourth, fifth));
    return static_cast<int>(with_errno(system_call(__NR_prctl, option, second, third, fourth, fifth)));
}

}  // extern "C"

#pragma GCC visibility pop
