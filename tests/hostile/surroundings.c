// Takes away, or replaces, what a process is given: its environment, its directory, its memory.
// Usage: surroundings HOW
#include <errno.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hazard.h"

extern char** environ;

static void limit(int which, rlim_t bytes) {
    const struct rlimit value = {bytes, bytes};
    must(setrlimit((enum __rlimit_resource)which, &value) == 0, "setrlimit");
}

static int child_of(void) {
    char* words[] = {(char*)"churn", (char*)"100", (char*)"5", NULL};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, getenv("CHURN") != NULL ? getenv("CHURN") : "/proc/self/cwd/churn", NULL, NULL, words,
                    environ) != 0)
        return 96;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    static char bytes[4096];
    churn(100);
    if (is(how, "clearenv")) clearenv();
    if (is(how, "no-environ")) environ = NULL;
    if (is(how, "own-environ")) {
        static char* own[] = {(char*)"A=1", (char*)"PATH=/usr/bin:/bin", NULL};
        environ = own;
    }
    if (is(how, "clearenv") || is(how, "no-environ") || is(how, "own-environ"))
        say("child: %d, system: %d\n", child_of(), WEXITSTATUS(system("exit 6")));
    if (is(how, "folder-removed")) {
        must(mkdir("gone", 0700) == 0 && chdir("gone") == 0 && rmdir("../gone") == 0, "rmdir");
        if (fork() == 0) {
            churn(100);
            _exit(0);
        }
        wait(NULL);
    }
    if (is(how, "umask-777")) umask(0777);
    if (is(how, "address-space")) limit(RLIMIT_AS, 1UL << 28);
    if (is(how, "data")) limit(RLIMIT_DATA, 1UL << 24);
    if (is(how, "stack")) limit(RLIMIT_STACK, 1UL << 16);
    if (is(how, "file-size")) limit(RLIMIT_FSIZE, 0);
    if (is(how, "locked")) {
        say("mlockall: %d\n", mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
    }
    if (is(how, "processes")) limit(RLIMIT_NPROC, 1);
    if (is(how, "exhausted")) {
        limit(RLIMIT_AS, 1UL << 28);
        void* chain = NULL;
        void* next = NULL;
        int blocks = 0;
        while ((next = malloc(1 << 20)) != NULL) {
            *(void**)next = chain;
            chain = next;
            ++blocks;
        }
        say("exhausted: %d, errno %d\n", blocks > 100, errno);
        for (; chain != NULL; chain = next) {
            next = *(void**)chain;
            free(chain);
        }
    }
    if (is(how, "file-size-limit")) {
        signal(25, SIG_DFL);
        limit(RLIMIT_FSIZE, 4096);
        FILE* file = fopen("data", "w");
        for (int i = 0; i < 2; ++i) fwrite(bytes, 1, sizeof bytes, file);
        fflush(file);
    }
    churn(200000);
    say("%s\n", how);
    return 0;
}
