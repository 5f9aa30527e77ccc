#include <acre/adapt/hooks/cpython.hpp>  // first, as Python.h asks
//
#include <acre/acre.hpp>
#include <cstdio>

using namespace acre::literals;

int main() {
    // Static: CPython keeps some blocks to the program's end.
    static acre::limited<acre::multi_pool> objects{{.limit_bytes = 64_MiB}};
    static acre::malloc_face memory{objects};
    acre::set_cpython_memory<PYMEM_DOMAIN_OBJ>(memory);
    Py_InitializeEx(0);
    PyRun_SimpleString(R"(
try:
    hoard = [bytes(1000) for _ in range(10**6)]
except MemoryError:
    print("a greedy script: MemoryError")
)");
    std::printf("within the limit: %s\n", objects.peak_bytes() <= 64_MiB ? "yes" : "no");
    return Py_FinalizeEx();
}
