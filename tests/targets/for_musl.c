// The functions of glibc that Debian's libc++ calls and musl does not have.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int __vfprintf_chk(FILE* to, int flag, const char* format, va_list arguments) {
    (void)flag;
    return vfprintf(to, format, arguments);
}

int __fprintf_chk(FILE* to, int flag, const char* format, ...) {
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    const int written = vfprintf(to, format, arguments);
    va_end(arguments);
    return written;
}

struct at_thread_exit {
    void (*destroy)(void*);
    void* object;
    struct at_thread_exit* older;
};
static pthread_key_t ends;
static pthread_once_t ends_is_made = PTHREAD_ONCE_INIT;

static void run_all(void* newest) {
    for (struct at_thread_exit* each = newest; each != NULL;) {
        struct at_thread_exit* older = each->older;
        each->destroy(each->object);
        free(each);
        each = older;
    }
}
static void make_ends(void) {
    pthread_key_create(&ends, &run_all);
}

// Runs the destructor of a thread_local object when its thread ends; the main thread's never run.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library) {
    (void)library;
    pthread_once(&ends_is_made, &make_ends);
    struct at_thread_exit* added = malloc(sizeof *added);
    if (added == NULL) return -1;
    *added = (struct at_thread_exit){destroy, object, pthread_getspecific(ends)};
    return pthread_setspecific(ends, added);
}
