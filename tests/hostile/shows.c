// Prints what a process can see of its surroundings, in a form that is the same in every run.
// Usage: shows WHAT...
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hazard.h"

extern char** environ;

static int by_text(const void* a, const void* b) {
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static void environment(void) {
    char* sorted[4096];
    int n = 0;
    while (environ != NULL && environ[n] != NULL && n < 4096) {
        sorted[n] = environ[n];
        ++n;
    }
    qsort(sorted, n, sizeof sorted[0], by_text);
    // A shell puts the name of what it executes into "_".
    for (int i = 0; i < n; ++i)
        if (strncmp(sorted[i], "_=", 2) != 0) puts(sorted[i]);
    const char* preload = getenv("LD_PRELOAD");
    printf("LD_PRELOAD is %s\n", preload != NULL ? preload : "not set");
}

/// The low descriptors, which programs know by number.
static void descriptors(void) {
    for (int i = 0; i < 200; ++i)
        if (fcntl(i, F_GETFD) >= 0) printf("%d is open%s\n", i, fcntl(i, F_GETFD) & FD_CLOEXEC ? " until exec" : "");
    const int lowest = open("/dev/null", O_RDONLY);
    printf("the next one is %d\n", lowest);
    close(lowest);
}

static void all_descriptors(void) {
    DIR* all = opendir("/proc/self/fd");
    int listed = -1;
    for (struct dirent* each; (each = readdir(all)) != NULL;) listed += each->d_name[0] != '.';
    closedir(all);
    printf("%d descriptors are open\n", listed);
}

static void signals(void) {
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i <= 64; ++i) {
        struct sigaction now;
        if (sigaction(i, NULL, &now) != 0) continue;
        if (now.sa_handler != SIG_DFL || sigismember(&blocked, i))
            printf("signal %d: %s%s\n", i,
                   now.sa_handler == SIG_DFL   ? "default"
                   : now.sa_handler == SIG_IGN ? "ignored"
                                               : "handled",
                   sigismember(&blocked, i) ? ", blocked" : "");
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("alternate stack: %s\n", stack.ss_flags & SS_DISABLE ? "none" : "one");
}

static void limits(void) {
    for (int i = 0; i < RLIM_NLIMITS; ++i) {
        struct rlimit limit;
        getrlimit((enum __rlimit_resource)i, &limit);
        printf("limit %d: %ld %ld\n", i, (long)limit.rlim_cur, (long)limit.rlim_max);
    }
}

static void process(void) {
    int subreaper = -1;
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    const mode_t mask = umask(0);
    char* folder = getcwd(NULL, 0);
    printf("name %s, dumpable %d, no new privileges %d, subreaper %d, umask %o, folder %s\n", name,
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), subreaper, mask,
           folder != NULL ? folder : "(none)");
    free(folder);
}

int main(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        if (is(arguments[i], "environment")) environment();
        if (is(arguments[i], "descriptors")) descriptors();
        if (is(arguments[i], "all-descriptors")) all_descriptors();
        if (is(arguments[i], "signals")) signals();
        if (is(arguments[i], "limits")) limits();
        if (is(arguments[i], "process")) process();
    }
    churn(100);
    return 0;
}
