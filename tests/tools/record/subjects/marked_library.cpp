// A shared library with a scope of its own.
#include <acre/observe/recording.hpp>

void use(unsigned long size);

void library_work() {
    acre::trace_scope mark{"library"};
    use(4001);
}
