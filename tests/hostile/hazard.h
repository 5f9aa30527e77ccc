// What the programs of this folder share. Each is one hazard, or one family of them, chosen by its first argument.
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Makes 2 n events: allocates and frees n blocks of a few sizes.
static inline void churn(int n) {
    for (int i = 0; i < n; ++i) {
        char* block = (char*)malloc(1 + i % 100);
        if (block != NULL) *(volatile char*)block = 1;
        free(block);
    }
}

/// Says which call failed, and ends the process with a status that no case expects.
static inline void must(int holds, const char* what) {
    if (holds) return;
    perror(what);
    _exit(99);
}

static inline int is(const char* mode, const char* name) {
    return strcmp(mode, name) == 0;
}

/// Prints without the C library's buffers, so that it may be called anywhere. Closed output is no fault.
static inline void say(const char* format, ...) {
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) length = sizeof line - 1;
    if (write(1, line, length) < 0 && errno != EBADF) _exit(98);
}
