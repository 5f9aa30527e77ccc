// Unusual stacks.
// Usage: stacks HOW [NUMBER]
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "hazard.h"

static ucontext_t home, away;

static void churn_and_return(void) {
    for (int i = 0; i < 100; ++i) {
        churn(10);
        swapcontext(&away, &home);
    }
}

/// `bytes` of stack between two pages that cannot be touched.
static char* guarded(size_t bytes) {
    char* all = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(mprotect(all + 4096, bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
    return all + 4096;
}

static int recurse(int depth) {
    volatile char room[32];
    room[0] = (char)depth;
    free(malloc(10));
    return depth == 0 ? 0 : recurse(depth - 1) + room[0] - room[0];
}

/// The same, but every function but the last is a different one for the recorder: nothing is folded.
static int left(unsigned path, int depth);
__attribute__((noinline)) static int right(unsigned path, int depth) {
    if (depth == 0) churn(1);
    return depth == 0 ? 1 : (path >> depth & 1 ? left(path, depth - 1) : right(path, depth - 1)) + 1;
}
__attribute__((noinline)) static int left(unsigned path, int depth) {
    if (depth == 0) churn(1);
    return depth == 0 ? 2 : (path >> depth & 1 ? right(path, depth - 1) : left(path, depth - 1)) + 2;
}

/// Allocates while the registers hold nothing that a stack could be found by.
static void churn_without_registers(void) {
    void* block = NULL;
    __asm__ volatile(
        "pushq %%rbp\n\tpushq %%rbx\n\t"
        "movq %%rsp, %%rbx\n\t"
        "andq $-16, %%rsp\n\t"
        "movq $-1, %%rbp\n\t"
        "movl $100, %%edi\n\t"
        "call malloc\n\t"
        "movq %%rbx, %%rsp\n\t"
        "popq %%rbx\n\tpopq %%rbp"
        : "=a"(block)
        :
        : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    free(block);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    const int number = count > 2 ? atoi(arguments[2]) : 0;
    churn(100);
    if (is(how, "contexts")) {
        getcontext(&away);
        away.uc_stack.ss_size = number;
        away.uc_stack.ss_sp = guarded(number);
        away.uc_link = &home;
        makecontext(&away, churn_and_return, 0);
        for (int i = 0; i < 100; ++i) swapcontext(&home, &away);
    }
    if (is(how, "deep")) recurse(number);
    if (is(how, "branching"))
        for (int i = 0; i < number; ++i) left(i << 1, 20);
    if (is(how, "no-registers"))
        for (int i = 0; i < 100; ++i) churn_without_registers();
    say("%s\n", how);
    return 0;
}
