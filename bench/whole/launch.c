/* Runs a program with a preloaded library and writes what it took: user and system time in microseconds, peak resident
 * KiB, minor page faults, exit status. A process of its own, since a child's peak counts what its parent held.
 *
 * Usage: launch PRELOAD|- RESULT-FILE PROGRAM ARGUMENT... */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** arguments) {
    if (count < 4) return 2;
    const pid_t child = fork();
    if (child == 0) {
        if (strcmp(arguments[1], "-") != 0) setenv("LD_PRELOAD", arguments[1], 1);
        execvp(arguments[3], arguments + 3);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) return 2;
    FILE* result = fopen(arguments[2], "w");
    if (result == NULL) return 2;
    fprintf(result, "%ld %ld %ld %ld %d\n", used.ru_utime.tv_sec * 1000000L + used.ru_utime.tv_usec,
            used.ru_stime.tv_sec * 1000000L + used.ru_stime.tv_usec, used.ru_maxrss, used.ru_minflt, status);
    fclose(result);
    return 0;
}
