// Starts processes in every way there is.
// Usage: starts HOW [PROGRAM [ARGUMENT]...]
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hazard.h"

extern char** environ;

static int wait_for(pid_t child) {
    int status = 0;
    must(child > 0 && waitpid(child, &status, 0) == child, "waiting");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int forked(int events) {
    const pid_t child = fork();
    if (child == 0) {
        churn(events);
        _exit(7);
    }
    return wait_for(child);
}

static void* fork_in_thread(void* result) {
    *(int*)result = forked(100);
    return NULL;
}

static volatile int stop;

static void* churn_until_stopped(void* unused) {
    while (!stop) churn(10);
    return unused;
}

static void churn_a_little(void) {
    churn(10);
}

/// A grandchild whose parent ends at once, as a daemon is made. It says when it is done, through a pipe.
static void orphan(int new_session) {
    int ends[2];
    must(pipe(ends) == 0, "pipe");
    const pid_t child = fork();
    if (child == 0) {
        if (new_session) setsid();
        if (fork() == 0) {
            churn(100);
            must(write(ends[1], "!", 1) == 1, "write");
        }
        _exit(0);
    }
    wait_for(child);
    char byte;
    must(read(ends[0], &byte, 1) == 1, "read");
    say("the orphan is done\n");
}

static int double_fork(void) {
    const pid_t child = fork();
    if (child == 0) {
        const pid_t orphan = fork();
        _exit(orphan < 0);
    }
    return child > 0 && wait_for(child) == 0;
}

/// Double forks in a row. Where there are too many processes, it waits for up to two seconds for some to be reaped.
static void many_orphans(int n) {
    for (int i = 0; i < n; ++i) {
        int attempts = 1;
        while (!double_fork()) {
            if (++attempts > 200) {
                say("nobody reaps the orphans\n");
                return;
            }
            usleep(10000);
        }
    }
    say("%d double forks\n", n);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    char* own[] = {(char*)"churn", (char*)"100", (char*)"5", NULL};
    char** program = count > 2 ? arguments + 2 : own;
    pid_t child = 0;
    int status = 0;
    churn(100);
    if (is(how, "fork")) status = forked(100);
    if (is(how, "forks"))
        for (int i = 0; i < 20; ++i) status += forked(10);
    if (is(how, "nested"))
        for (int i = 0; i < 5; ++i)
            if ((child = fork()) != 0) {
                status = wait_for(child) + 1;
                break;
            } else
                churn(100);
    if (is(how, "vfork")) {
        if ((child = vfork()) == 0) {
            execvp(program[0], program);
            _exit(96);
        }
        status = wait_for(child);
    }
    if (is(how, "vfork-exit")) {
        if ((child = vfork()) == 0) _exit(8);
        status = wait_for(child);
    }
    if (is(how, "fork-exec")) {
        if ((child = fork()) == 0) {
            execvp(program[0], program);
            _exit(96);
        }
        status = wait_for(child);
    }
    if (is(how, "spawn")) {
        must(posix_spawnp(&child, program[0], NULL, NULL, program, environ) == 0, "posix_spawnp");
        status = wait_for(child);
    }
    if (is(how, "spawn-empty")) {
        char* nothing[] = {NULL};
        must(posix_spawnp(&child, program[0], NULL, NULL, program, nothing) == 0, "posix_spawnp");
        status = wait_for(child);
    }
    if (is(how, "spawn-closed")) {
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addclosefrom_np(&actions, 3);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
        must(posix_spawnp(&child, program[0], &actions, &attributes, program, environ) == 0, "posix_spawnp");
        status = wait_for(child);
    }
    if (is(how, "allocates-around-fork")) {
        pthread_atfork(churn_a_little, churn_a_little, churn_a_little);
        for (int i = 0; i < 10; ++i) status |= forked(100);
    }
    if (is(how, "spawn-missing")) {
        say("posix_spawn gives %d\n", posix_spawnp(&child, "there-is-no-such-program", NULL, NULL, program, environ));
    }
    if (is(how, "system")) status = WEXITSTATUS(system(program[0]));
    if (is(how, "popen")) {
        FILE* pipe = popen(program[0], "r");
        char line[4096];
        while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) say("> %s", line);
        status = WEXITSTATUS(pclose(pipe));
    }
    if (is(how, "double-fork")) orphan(0);
    if (is(how, "setsid")) orphan(1);
    if (is(how, "many-orphans")) many_orphans(atoi(arguments[2]));
    if (is(how, "daemon")) {
        must(daemon(1, 1) == 0, "daemon");
        churn(1000);
        say("in the background\n");
    }
    if (is(how, "raw-clone")) {
        if ((child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0) {
            churn(100);
            _exit(7);
        }
        status = wait_for(child);
    }
    if (is(how, "raw-vfork")) {
        if ((child = syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0)) == 0) _exit(7);
        status = wait_for(child);
    }
    if (is(how, "fork-in-thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, fork_in_thread, &status);
        pthread_join(thread, NULL);
    }
    if (is(how, "fork-beside-threads")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, churn_until_stopped, NULL);
        for (int i = 0; i < 20; ++i) status |= forked(20);
        stop = 1;
        for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    }
    if (is(how, "fork-and-leave")) {
        if (fork() == 0) {
            usleep(600000);
            churn(100);
            _exit(0);
        }
    }
    if (is(how, "sigchld-ignored")) {
        signal(SIGCHLD, SIG_IGN);
        for (int i = 0; i < 20; ++i)
            if (fork() == 0) {
                churn(10);
                _exit(1);
            }
        while (wait(NULL) > 0) {
        }
    }
    say("%s: status %d\n", how, status);
    return status;
}
