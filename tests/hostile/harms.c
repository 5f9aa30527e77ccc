// Harms the log of its own recording: finds the raw directory in $TRACES and does something to it. Alone it finds none.
// Usage: harms HOW
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hazard.h"

static char raw[4096];

static void find_raw_directory(void) {
    DIR* folder = opendir(getenv("TRACES"));
    must(folder != NULL, "opendir");
    for (struct dirent* each; (each = readdir(folder)) != NULL;)
        if (strstr(each->d_name, ".raw-") != NULL) snprintf(raw, sizeof raw, "%s/%s", getenv("TRACES"), each->d_name);
    closedir(folder);
}

static void to_each_file(void (*harm)(const char*)) {
    DIR* folder = raw[0] != 0 ? opendir(raw) : NULL;
    if (folder == NULL) return;
    for (struct dirent* each; (each = readdir(folder)) != NULL;) {
        char path[5000];
        snprintf(path, sizeof path, "%s/%s", raw, each->d_name);
        if (each->d_name[0] != '.') harm(path);
    }
    closedir(folder);
}

static void delete(const char* path) {
    unlink(path);
}
static void truncate_to_nothing(const char* path) {
    (void)!truncate(path, 0);
}
static void truncate_to_a_page(const char* path) {
    (void)!truncate(path, 4096);
}
static void make_read_only(const char* path) {
    chmod(path, 0444);
}
static void overwrite(const char* path) {
    static char bytes[65536];
    memset(bytes, 0xff, sizeof bytes);
    const int file = open(path, O_WRONLY);
    (void)!write(file, bytes, sizeof bytes);
    close(file);
}

/// Takes all the room that a file system has left.
static void fill(const char* folder) {
    static char bytes[65536];
    char path[4096];
    snprintf(path, sizeof path, "%s/filler", folder);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    memset(bytes, 1, sizeof bytes);
    while (write(file, bytes, sizeof bytes) > 0) churn(100);
    while (write(file, bytes, 1) > 0) {
    }
    close(file);
}

static void fork_a_child(void) {
    const pid_t child = fork();
    if (child == 0) {
        churn(1000);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    churn(1000);
    find_raw_directory();
    if (is(how, "deletes")) {
        to_each_file(delete);
        if (raw[0] != 0) rmdir(raw);
    }
    if (is(how, "empties")) to_each_file(truncate_to_nothing);
    if (is(how, "cuts")) to_each_file(truncate_to_a_page);
    if (is(how, "overwrites")) to_each_file(overwrite);
    if (is(how, "read-only")) {
        to_each_file(make_read_only);
        if (raw[0] != 0) chmod(raw, 0555);
    }
    if (is(how, "moves") && raw[0] != 0) {
        char other[5000];
        snprintf(other, sizeof other, "%s-moved", raw);
        rename(raw, other);
    }
    if (is(how, "fills")) fill(arguments[2]);
    if (is(how, "kills-acre")) kill(getppid(), SIGKILL);
    churn(1000000);
    fork_a_child();
    say("%s\n", how);
    return 0;
}
