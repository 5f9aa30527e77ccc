// Restricts its own system calls.
// Usage: sandbox ACTION PAIRS GROUP...     ACTION: errno, kill or trap; GROUP: files, open, memory, sockets, processes
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hazard.h"

static const int files[] = {SYS_openat,       SYS_open, SYS_creat, SYS_pwrite64,   SYS_ftruncate,
                            SYS_fallocate,    SYS_stat, SYS_fstat, SYS_newfstatat, SYS_lseek,
                            SYS_fcntl,        SYS_dup,  SYS_close, SYS_unlink,     SYS_readlink,
                            SYS_memfd_create, -1};
static const int opening[] = {SYS_openat, SYS_open, SYS_creat, -1};
static const int memory[] = {SYS_mmap, SYS_munmap, SYS_madvise, SYS_mremap, SYS_mprotect, -1};
static const int sockets[] = {SYS_socket, SYS_connect, SYS_sendmsg, SYS_sendto, SYS_recvmsg, -1};
static const int processes[] = {SYS_kill,  SYS_tgkill,      SYS_prctl, SYS_clock_gettime, SYS_futex, SYS_getrusage,
                                SYS_times, SYS_sched_yield, -1};

static volatile int trapped;

static void on_trap(int number, siginfo_t* about, void* context) {
    (void)number;
    (void)about;
    (void)context;
    ++trapped;
}

static void forbid(const int* calls, unsigned action) {
    for (; *calls >= 0; ++calls) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*calls, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, action),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog program = {4, filter};
        must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "seccomp");
    }
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    churn(100);
    if (is(how, "strict")) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        churn(atoi(arguments[2]));
        say("sandboxed\n");
        syscall(SYS_exit, 0);
    }
    struct sigaction action = {0};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const unsigned verdict = is(how, "errno")  ? SECCOMP_RET_ERRNO | EPERM
                             : is(how, "trap") ? SECCOMP_RET_TRAP
                                               : SECCOMP_RET_KILL_PROCESS;
    for (int i = 3; i < count; ++i) {
        const char* group = arguments[i];
        forbid(is(group, "files")     ? files
               : is(group, "open")    ? opening
               : is(group, "memory")  ? memory
               : is(group, "sockets") ? sockets
                                      : processes,
               verdict);
    }
    // Small blocks only, and few live: the C library needs no system call for them.
    churn(atoi(arguments[2]));
    if (is(how, "errno") && is(arguments[3], "open")) {
        const pid_t child = fork();
        if (child == 0) {
            churn(100);
            _exit(5);
        }
        int status = 0;
        waitpid(child, &status, 0);
        say("child: %d\n", WEXITSTATUS(status));
    }
    say("sandboxed, %d trapped\n", trapped);
    _exit(0);
}
