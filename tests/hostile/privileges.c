// Gives up rights, or moves where the files that were there are not.
// Usage: privileges HOW
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hazard.h"

static int wait_for(pid_t child) {
    int status = 0;
    must(child > 0 && waitpid(child, &status, 0) == child, "waiting");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void become_nobody(void) {
    must(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0,
         "setresuid");
}

static void churn_in_children(void) {
    for (int i = 0; i < 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            churn(1000);
            _exit(i);
        }
        must(wait_for(child) == i, "child");
    }
    churn(1000);
}

/// A child that is process 1 of a PID namespace of its own.
static void first_of_namespace(void) {
    const pid_t outer = fork();
    if (outer == 0) {
        must(unshare(CLONE_NEWPID) == 0, "unshare");
        const pid_t first = fork();
        if (first == 0) {
            churn(500);
            say("process %d\n", (int)getpid());
            _exit(0);
        }
        _exit(wait_for(first));
    }
    must(wait_for(outer) == 0, "child");
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    if (is(how, "setuid-first")) {
        become_nobody();
        churn_in_children();
    }
    churn(100);
    if (is(how, "setuid-forks")) {
        become_nobody();
        churn_in_children();
    }
    if (is(how, "setuid-exec")) {
        become_nobody();
        execlp("churn", "churn", "100", "5", NULL);
    }
    if (is(how, "chroot-forks")) {
        must(mkdir("root", 0755) == 0 && chroot("root") == 0 && chdir("/") == 0, "chroot");
        churn_in_children();
    }
    if (is(how, "chroot-and-setuid")) {
        must(mkdir("root", 0755) == 0 && chroot("root") == 0 && chdir("/") == 0, "chroot");
        become_nobody();
        churn_in_children();
    }
    if (is(how, "user-namespace")) {
        must(unshare(CLONE_NEWUSER) == 0, "unshare");
        churn_in_children();
    }
    if (is(how, "net-namespace")) {
        must(unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0, "unshare");
        churn_in_children();
    }
    if (is(how, "hidden-folder")) {
        must(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "unshare");
        must(mount("none", getenv("TRACES"), "tmpfs", 0, NULL) == 0, "mount");
        churn_in_children();
    }
    if (is(how, "equal-pids")) {
        for (int i = 0; i < 3; ++i) first_of_namespace();
    }
    if (is(how, "not-dumpable")) {
        prctl(PR_SET_DUMPABLE, 0);
        churn_in_children();
    }
    if (is(how, "no-new-privileges")) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        churn_in_children();
    }
    if (is(how, "without-proc")) {
        must(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "unshare");
        must(mount("none", "/proc", "tmpfs", 0, NULL) == 0, "mount");
        churn_in_children();
    }
    say("%s\n", how);
    return 0;
}
