// The memory of an embedded CPython from any resource: PyMem_SetAllocator with a PyMemAllocatorEx.
//
// Call it before Py_Initialize. CPython has three domains: objects (PYMEM_DOMAIN_OBJ), other memory of the interpreter
// (PYMEM_DOMAIN_MEM), and memory that it takes without holding its lock (PYMEM_DOMAIN_RAW). The first two are served
// under the lock, one thread at a time, and go to any resource; the third needs one that threads share, or does not
// compile. CPython's own allocator, pymalloc, is good: use this to limit (acre::limited), to count (acre::statistics)
// and to find out who allocates what (acre::traced).
//
// Cost: that of acre::malloc_face. CPython keeps some blocks after Py_Finalize: make the resource and the face live to
// the program's end. Thread rules: as above.
//
//     static acre::multi_pool objects;
//     static acre::malloc_face memory{objects};
//     acre::set_cpython_memory<PYMEM_DOMAIN_OBJ>(memory);
//     Py_Initialize();
#pragma once

// Python.h asks to be the first header.
#include <Python.h>

#include <acre/adapt/malloc_face.hpp>
#include <acre/core/detail/serves_threads.hpp>
#include <cstddef>

namespace acre {

/// The functions over `face`, which must live longer than the interpreter.
template <resource R>
PyMemAllocatorEx cpython_memory(malloc_face<R>& face) noexcept {
    using pointer = malloc_face<R>*;
    return {&face,
            [](void* context, std::size_t bytes) noexcept { return static_cast<pointer>(context)->malloc(bytes); },
            [](void* context, std::size_t count, std::size_t size) noexcept {
                return static_cast<pointer>(context)->calloc(count, size);
            },
            // CPython's realloc to zero bytes gives a block.
            [](void* context, void* p, std::size_t bytes) noexcept {
                return static_cast<pointer>(context)->realloc(p, bytes == 0 ? 1 : bytes);
            },
            [](void* context, void* p) noexcept { static_cast<pointer>(context)->free(p); }};
}

/// Gives a domain of CPython the functions over `face`.
template <PyMemAllocatorDomain Domain, resource R>
void set_cpython_memory(malloc_face<R>& face) noexcept {
    static_assert(
        Domain != PYMEM_DOMAIN_RAW || detail::serves_threads<R>,
        "acre::set_cpython_memory: CPython allocates in PYMEM_DOMAIN_RAW from any thread: use a resource that "
        "threads share, such as acre::concurrent_multi_pool");
    PyMemAllocatorEx allocator = cpython_memory(face);
    PyMem_SetAllocator(Domain, &allocator);
}

}  // namespace acre
