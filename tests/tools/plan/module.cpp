// A module that plan-subject loads while it runs: it has a site of its own.
#include <cstddef>
#include <cstdlib>

extern "C" void* request_of_module(std::size_t bytes) {
    void* volatile p = std::malloc(bytes);
    return p;
}
