// Zstandard's memory from any resource: the ZSTD_customMem that ZSTD_createCCtx_advanced and the like take.
//
// A context asks for a few large blocks and keeps them. Use acre::arena over memory that you have, so that it asks the
// heap for nothing; acre::limited around a resource for frames of strangers, whose window may be 128 MiB.
//
// zstd declares these functions for programs that define ZSTD_STATIC_LINKING_ONLY, as this header does. Cost: that of
// acre::malloc_face. The face lives longer than the contexts. Thread rules: a context is used by one thread at a time,
// and so is its resource; a context with workers (ZSTD_c_nbWorkers) allocates in them, and needs a resource that
// threads share.
//
//     acre::arena memory_of_context;
//     acre::malloc_face memory{memory_of_context};
//     ZSTD_CCtx* context = ZSTD_createCCtx_advanced(acre::zstd_memory(memory));
#pragma once

#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY
#endif
#include <zstd.h>

#include <acre/adapt/malloc_face.hpp>
#include <cstddef>

namespace acre {

/// The functions over `face`, which must live longer than what they are given to.
template <resource R>
ZSTD_customMem zstd_memory(malloc_face<R>& face) noexcept {
    return {
        [](void* context, std::size_t bytes) noexcept { return static_cast<malloc_face<R>*>(context)->malloc(bytes); },
        [](void* context, void* p) noexcept { static_cast<malloc_face<R>*>(context)->free(p); }, &face};
}

}  // namespace acre
