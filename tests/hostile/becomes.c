// Executes another program in this process, in every way there is.
// Usage: becomes HOW PROGRAM [ARGUMENT]...
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "hazard.h"

extern char** environ;

static char* where(char* name) {
    static char path[4096];
    if (strchr(name, '/') != NULL) return name;
    char folders[4096];
    snprintf(folders, sizeof folders, "%s", getenv("PATH"));
    for (char* folder = strtok(folders, ":"); folder != NULL; folder = strtok(NULL, ":")) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (access(path, X_OK) == 0) return path;
    }
    return name;
}

static char** target;

static void* exec_in_thread(void* unused) {
    execv(target[0], target);
    return unused;
}

static void* churn_for_ever(void* unused) {
    for (;;) churn(100);
    return unused;
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    char* nothing[] = {NULL};
    char** rest = arguments + 2;
    churn(100);
    rest[0] = where(rest[0]);
    if (is(how, "execl")) execl(rest[0], rest[0], rest[1], NULL);
    if (is(how, "execlp")) execlp(rest[0], rest[0], rest[1], NULL);
    if (is(how, "execle")) execle(rest[0], rest[0], rest[1], NULL, environ);
    if (is(how, "execv")) execv(rest[0], rest);
    if (is(how, "execvp")) execvp(rest[0], rest);
    if (is(how, "execve")) execve(rest[0], rest, environ);
    if (is(how, "execve-empty")) execve(rest[0], rest, nothing);
    if (is(how, "execve-null")) execve(rest[0], rest, NULL);
    if (is(how, "execvpe")) execvpe(rest[0], rest, environ);
    if (is(how, "fexecve")) fexecve(open(rest[0], O_RDONLY | O_CLOEXEC), rest, environ);
    if (is(how, "execveat")) syscall(SYS_execveat, AT_FDCWD, rest[0], rest, environ, 0);
    if (is(how, "raw")) syscall(SYS_execve, rest[0], rest, environ);
    if (is(how, "raw-empty")) syscall(SYS_execve, rest[0], rest, nothing);
    if (is(how, "no-arguments")) execve(rest[0], nothing, environ);
    if (is(how, "beside-threads")) {
        pthread_t thread;
        for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, churn_for_ever, NULL);
        usleep(50000);
        execv(rest[0], rest);
    }
    if (is(how, "thread")) {
        pthread_t thread;
        target = rest;
        pthread_create(&thread, NULL, exec_in_thread, NULL);
        pthread_join(thread, NULL);
    }
    say("%s: errno %d\n", how, errno);
    churn(100);
    return 3;
}
