// Restricts its own system calls in the way that its first argument names, so that those of a recorder would kill it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void allocate(int count) {
    for (int i = 0; i < count; ++i) std::free(std::malloc(4242));
}

/// Allows only write, brk and the end of the process.
long restrict_by_filter(bool by_prctl) {
    sock_filter rules[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                           {BPF_JMP | BPF_JEQ | BPF_K, 3, 0, SYS_write},
                           {BPF_JMP | BPF_JEQ | BPF_K, 2, 0, SYS_brk},
                           {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_exit_group},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    sock_fprog program{6, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_prctl) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string how = count > 1 ? arguments[1] : "";
    allocate(500);
    if (how == "strict") {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        allocate(10'000);
        return static_cast<int>(syscall(SYS_exit, 7));
    }
    // Without a program for the filter this fails, and nothing is restricted.
    const bool failed = how == "failed" && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr) != 0;
    if (how != "failed" && restrict_by_filter(how == "prctl") != 0) return 8;
    allocate(10'000);
    return how == "failed" && !failed ? 9 : 7;
}
