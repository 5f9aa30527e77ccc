// GMP's memory from this thread's resource (acre::ambient): the functions that mp_set_memory_functions takes.
//
// Call it first in main, before any number exists. Use acre::multi_pool for long calculations with many numbers, and
// acre::arena for a short one whose numbers die together. GMP passes no context, so that the resource is the one that
// this thread uses when GMP allocates.
//
// GMP has no way to go on without memory: where the resource has none, these functions print a sentence and abort. A
// number that shrinks needs none with acre::ambient, which knows the size of a block.
// Cost: that of acre::ambient, 16 bytes a block; a resource without state of your own has no such bytes, because GMP
// says how large a block is when it frees it. Thread rules: a number under a resource that threads do not share is
// changed and cleared in the thread that made it; acre::ambient refuses the rest with a sentence.
//
//     #include <gmp.h>
//     mp_set_memory_functions(acre::gmp_allocate<>, acre::gmp_reallocate<>, acre::gmp_free<>);  // first in main
//     acre::multi_pool numbers;
//     acre::use_resource use{numbers};
#pragma once

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/detail/reallocate.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/core/misuse.hpp>
#include <cstddef>

namespace acre {

namespace detail {

/// Numbers are arrays of machine words.
inline constexpr std::size_t gmp_alignment = alignof(long long);

[[noreturn, gnu::noinline, gnu::cold]] inline void gmp_has_no_memory() noexcept {
    abort_on_misuse("acre::gmp_allocate", "the resource has no memory for a number, and GMP cannot go on without",
                    nullptr);
}

}  // namespace detail

/// A block of `bytes` bytes from an R without state, this thread's resource if none is named. Never null: aborts.
template <stateless_resource R = ambient>
void* gmp_allocate(std::size_t bytes) noexcept {
    void* p = R{}.try_allocate(bytes, detail::gmp_alignment);
    if (p == nullptr) [[unlikely]]
        detail::gmp_has_no_memory();
    return p;
}

/// The block `p` with `new_bytes` bytes, in place or moved. Never null: aborts.
template <stateless_resource R = ambient>
void* gmp_reallocate(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    R below;
    void* moved = detail::reallocate(below, p, old_bytes, new_bytes, detail::gmp_alignment);
    // A block that cannot shrink stays, where the resource needs no size from GMP to free it.
    if (size_knowing_resource<R> && moved == nullptr && new_bytes <= old_bytes) return p;
    if (moved == nullptr) [[unlikely]]
        detail::gmp_has_no_memory();
    return moved;
}

/// Frees the block `p` of `bytes` bytes.
template <stateless_resource R = ambient>
void gmp_free(void* p, std::size_t bytes) noexcept {
    R{}.deallocate(p, bytes, detail::gmp_alignment);
}

}  // namespace acre
