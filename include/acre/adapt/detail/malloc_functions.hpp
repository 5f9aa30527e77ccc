// malloc's functions over a resource without state, as plain functions: for C libraries that pass no context.
//
// Used by the adapters to C libraries, not directly. Cost and thread rules: those of acre::malloc_face<R>.
#pragma once

#include <acre/adapt/malloc_face.hpp>
#include <cstddef>

namespace acre::detail {

/// Functions with the signatures of the standard's.
template <stateless_resource R>
struct malloc_functions {
    static void* malloc(std::size_t bytes) noexcept { return malloc_face<R>{}.malloc(bytes); }
    static void* realloc(void* p, std::size_t bytes) noexcept { return malloc_face<R>{}.realloc(p, bytes); }
    static void free(void* p) noexcept { malloc_face<R>{}.free(p); }
};

}  // namespace acre::detail
