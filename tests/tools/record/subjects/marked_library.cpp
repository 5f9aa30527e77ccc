// A shared library with a scope of its own.
#include <acre/observe/trace_scope.hpp>

void use(unsigned long size);

void library_work() {
    acre::trace_scope mark{"library"};
    use(4001);
}
