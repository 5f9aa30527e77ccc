// Signals at bad moments.
// Usage: signals HOW [NUMBER]
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "hazard.h"

static volatile long handled;
static sigjmp_buf before;
static char alternate[65536];

static void count_only(int number) {
    (void)number;
    ++handled;
}

/// Not allowed by the C library, but done: it works as long as the signal interrupts no allocation function. Here the
/// signal is let in only between calls, but may interrupt nothing else of the program's.
static void allocate(int number) {
    (void)number;
    const int saved = errno;
    churn(3);
    ++handled;
    errno = saved;
}

static void jump(int number) {
    (void)number;
    siglongjmp(before, 1);
}

static void storm(int which, int number, void (*handler)(int), int microseconds) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, NULL);
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(which, &timer, NULL);
}

static int recurse(int depth) {
    volatile char room[256];
    room[0] = (char)depth;
    free(malloc(10));
    return recurse(depth + 1) + room[0];
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    const int number = count > 2 ? atoi(arguments[2]) : SIGTERM;
    churn(100);
    struct sigaction action = {0};
    if (is(how, "alarm-storm") || is(how, "profile-storm")) {
        const int profile = is(how, "profile-storm");
        storm(profile ? ITIMER_PROF : ITIMER_REAL, profile ? SIGPROF : SIGALRM, count_only, 200);
        while (handled < 100) churn(1000);
    }
    if (is(how, "allocating-handler")) {
        sigset_t only;
        sigemptyset(&only);
        sigaddset(&only, SIGALRM);
        sigprocmask(SIG_BLOCK, &only, NULL);
        storm(ITIMER_REAL, SIGALRM, allocate, 500);
        while (handled < 100) {
            churn(100);
            sigprocmask(SIG_UNBLOCK, &only, NULL);
            sigprocmask(SIG_BLOCK, &only, NULL);
        }
    }
    if (is(how, "recovers")) {
        action.sa_handler = jump;
        sigaction(SIGSEGV, &action, NULL);
        for (volatile int i = 0; i < 100; ++i) {
            if (sigsetjmp(before, 1) == 0) *(volatile int*)8 = 1;
            churn(10);
        }
    }
    if (is(how, "recovers-from-overflow")) {
        const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
        sigaltstack(&stack, NULL);
        action.sa_handler = jump;
        action.sa_flags = SA_ONSTACK;
        sigaction(SIGSEGV, &action, NULL);
        for (volatile int i = 0; i < 3; ++i) {
            if (sigsetjmp(before, 1) == 0) recurse(0);
            churn(10);
        }
    }
    if (is(how, "jumps-out-of-storm")) {
        storm(ITIMER_REAL, SIGALRM, jump, 300);
        for (volatile int i = 0; i < 200; ++i) {
            if (sigsetjmp(before, 1) == 0)
                for (;;) __asm__ volatile("pause");
            churn(10);
        }
        const struct itimerval none = {0};
        setitimer(ITIMER_REAL, &none, NULL);
    }
    if (is(how, "stop-and-go")) {
        for (int i = 0; i < 5; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                usleep(10000);
                kill(getppid(), SIGCONT);
                _exit(0);
            }
            raise(SIGSTOP);
            waitpid(child, NULL, 0);
            churn(100);
        }
    }
    if (is(how, "all-blocked")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        raise(SIGTERM);
        raise(SIGUSR1);
        churn(1000);
        sigset_t pending;
        sigpending(&pending);
        say("pending: %d %d\n", sigismember(&pending, SIGTERM), sigismember(&pending, SIGUSR1));
    }
    if (is(how, "to-the-group")) {
        action.sa_handler = count_only;
        sigaction(number, &action, NULL);
        for (int i = 0; i < 5; ++i) {
            // The parent takes the signal after this process has: two of the same number are never one.
            kill(getppid(), SIGSTOP);
            kill(0, number);
            usleep(10000);
            kill(getppid(), SIGCONT);
            usleep(20000);
        }
        say("%ld signals\n", handled);
    }
    if (is(how, "waits")) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGUSR2);
        sigprocmask(SIG_BLOCK, &one, NULL);
        kill(getpid(), SIGUSR2);
        int came = 0;
        sigwait(&one, &came);
        say("signal %d\n", came);
    }
    say("%s\n", how);
    return 0;
}
