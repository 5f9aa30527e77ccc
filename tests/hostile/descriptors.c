// Closes, counts and replaces descriptors that it did not open.
// Usage: descriptors HOW
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hazard.h"

/// Opens until nothing more can be opened, and says how many there are.
static void fill(void) {
    int n = 0;
    while (open("/dev/null", O_RDONLY) >= 0) ++n;
    say("opened %d, errno %d\n", n, errno);
}

int main(int count, char** arguments) {
    const char* how = arguments[1];
    churn(100);
    if (is(how, "close_range")) close_range(3, ~0U, 0);
    if (is(how, "closefrom")) closefrom(3);
    if (is(how, "close-each"))
        for (int i = 3; i < 65536; ++i) close(i);
    if (is(how, "standard")) {
        close(0);
        close(2);
        say("standard input is now %d\n", open("/dev/null", O_RDONLY));
    }
    if (is(how, "dup2")) {
        const int file = open("data", O_RDWR | O_CREAT, 0600);
        for (int i = 3; i < 1024; ++i) dup2(file, i);
        churn(1000000);
        struct stat status;
        fstat(file, &status);
        say("%ld bytes were written to my file\n", (long)status.st_size);
    }
    if (is(how, "fill")) fill();
    if (is(how, "fill-and-go-on")) {
        fill();
        churn(1000000);
        if (fork() == 0) {
            churn(100);
            _exit(0);
        }
        wait(NULL);
    }
    if (is(how, "lower-limit")) {
        const struct rlimit limit = {4, 4};
        setrlimit(RLIMIT_NOFILE, &limit);
        churn(1000000);
        say("the next descriptor is %d\n", open("/dev/null", O_RDONLY));
    }
    churn(1000000);
    say("%s\n", how);
    return 0;
}
