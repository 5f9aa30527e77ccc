// Leaves a process that goes on allocating, as a server in the background does.
// Usage: outlives SECONDS
// The background process writes to the file "growth" by how many bytes the files and shared memory that it has mapped
// or open grew in its second half.
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "hazard.h"

static long bytes_in(const char* folder) {
    DIR* all = opendir(folder);
    long bytes = 0;
    if (all == NULL) return 0;
    for (struct dirent* each; (each = readdir(all)) != NULL;) {
        char path[600];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, each->d_name);
        if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) bytes += status.st_blocks * 512L;
    }
    closedir(all);
    return bytes;
}

static long bytes_now(void) {
    return bytes_in("/proc/self/map_files") + bytes_in("/proc/self/fd");
}

static void churn_for(double seconds) {
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        churn(10000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begun.tv_sec + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
}

int main(int count, char** arguments) {
    const double seconds = atof(arguments[1]);
    churn(1000);
    if (fork() != 0) {
        usleep(100000);
        return 0;
    }
    setsid();
    churn_for(seconds / 2);
    const long before = bytes_now();
    churn_for(seconds / 2);
    FILE* file = fopen("growth", "w");
    fprintf(file, "%s\n", bytes_now() - before < 1 << 20 ? "it did not grow" : "it grew by more than 1 MiB");
    fclose(file);
    return 0;
}
